"""The shelf of checks: a file for each claim, of the claim's name."""

from __future__ import annotations

from app import plugins
from lab.judge.check import Check


def checks() -> dict[str, Check]:
    """All checks, by the name of the claim they check."""
    return {name: file.violations for name, file in plugins.files(__name__).items()}
