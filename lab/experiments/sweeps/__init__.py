"""The sweeps, one in each file."""

from __future__ import annotations

from app.shelf import plugins
from lab.experiments.sweep import Sweep


def names() -> list[str]:
    """Return the names of all sweeps."""
    return plugins.names(__name__)


def load(name: str) -> Sweep:
    """Return a sweep by its file's name, which must be in ``names()``."""
    sweep: Sweep = plugins.file(__name__, name).SWEEP
    return sweep
