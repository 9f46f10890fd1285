"""The shelf of sweeps, one a file."""

from __future__ import annotations

from app import plugins
from lab.experiments.sweep import Sweep


def names() -> list[str]:
    """The sweeps there are."""
    return plugins.names(__name__)


def load(name: str) -> Sweep:
    """A sweep by its file's name, which must be one of ``names()``."""
    sweep: Sweep = plugins.file(__name__, name).SWEEP
    return sweep
