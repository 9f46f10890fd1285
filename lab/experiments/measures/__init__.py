"""Measure a point of an experiment: each file has one kind of meter, as ``METER``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from lab.experiments.experiment import Experiment
from lab.experiments.result import Point
from lab.language import Language


@dataclass
class Meter:
    """Measures the points of one experiment."""

    experiment: Experiment
    # the scenario's options that the user gave
    given: Mapping[str, int]
    # the command as it was typed
    command: str
    # closes the opened things at the end
    stack: contextlib.ExitStack

    def conditions(self, stage: str, value: str, language: Language) -> str:
        """Return the conditions of a point except the varied one, in words. Raises BadInput if the point cannot be measured."""
        raise NotImplementedError

    def measure(self, point: Point) -> None:
        """Measure a point, and write its figures. Raises NothingShown, and KeyboardInterrupt."""
        raise NotImplementedError
