"""The shelf of measurements, one a file."""

from __future__ import annotations

from typing import cast

from app import plugins
from lab.experiments.benchmark import Bench


def benches() -> dict[str, Bench]:
    """All measurements, by file name."""
    return {name: cast(Bench, file) for name, file in plugins.files(__name__).items()}
