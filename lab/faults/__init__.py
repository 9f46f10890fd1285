"""The shelf of faults, one a file."""

from __future__ import annotations

from typing import Any

from app import plugins


def faults() -> dict[str, Any]:
    """The harms, by file name."""
    return {name: file.Harm for name, file in plugins.files(__name__).items()}
