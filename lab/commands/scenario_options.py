"""The options of the commands that run a scenario, made from the table of scenario options. Quick to import, for --help."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from lab.scenario.options import OPTIONS, Option


def scenario_options(*names: str) -> Callable[[Any], Any]:
    """Add the options of these names, or all scenario options, to a command."""
    return _adding([OPTIONS[name] for name in names or OPTIONS])


def server_options() -> Callable[[Any], Any]:
    """Add the scenario options that change servers, and not only the load, to a command."""
    return _adding(option for option in OPTIONS.values() if not option.only_load)


def _adding(options: Iterable[Option]) -> Callable[[Any], Any]:
    in_order = list(options)

    def add(command: Any) -> Any:
        for option in reversed(in_order):
            limits = ", ".join(filter(None, (option.unit, option.limits)))
            command = click.option(option.flag, type=option.kind, help=f"{option.help}  [{limits}]")(command)
        return command

    return add
