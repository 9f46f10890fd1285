"""The option ``--out`` of the commands that write a folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lab.paths import new_folder


def out_option(what: str, default: str = "") -> Callable[[Any], Any]:
    """Add ``--out``: the folder for the result of a command. A place that cannot be one is refused before the first run."""
    text = f"Folder for {what}." + (f"  [default: reports/{default}]" if default else "")
    return click.option(
        "--out", callback=lambda _, option, value: value and new_folder(value, "--out"), help=text, metavar="PATH"
    )
