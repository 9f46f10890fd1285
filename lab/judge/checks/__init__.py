"""The shelf of checks: one file for each claim, with the name of the claim."""

from __future__ import annotations

from app import plugins
from lab.judge.check import Check


def checks() -> dict[str, Check]:
    """Return all checks, by the name of their claim."""
    return {name: file.violations for name, file in plugins.files(__name__).items()}
