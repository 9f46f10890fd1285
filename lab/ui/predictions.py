"""Predictions of a class, and how often they were right, for as long as the page's server runs.

A prediction is about a stage under a scenario: it is one of the choices of the claim's question. It counts for the next run of
the two, and can be changed until that run starts. From then on it stays, and the run answers it. Until then nobody gets to know
what others predict, only how many have. A visitor is known by the number of a browser alone (``joining.py``).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from lab.ui.both_sides import Refusal

VOTERS = 200  # enough for a class; a limit, so that posts cannot fill the memory
Subject = tuple[str, str]  # stage, scenario


class Full(Exception):  # noqa: N818 - states what happened
    """The largest number of visitors has predicted."""


@dataclass
class Fixed:
    """A prediction whose run has begun."""

    choice: int
    # whether the run answered so; None: it has not ended
    right: bool | None = None


@dataclass
class Visitor:
    """A visitor who predicts."""

    right: int = 0  # how many predictions were right
    wrong: int = 0
    open: dict[Subject, int] = field(default_factory=dict)  # the choices for the next runs
    fixed: dict[Subject, Fixed] = field(default_factory=dict)  # the last predictions whose runs have begun


class Predictions:
    """All visitors' predictions. Safe to use from many threads."""

    def __init__(self) -> None:
        self._visitors: dict[str, Visitor] = {}
        self._playing: Subject | None = None
        self._mutex = threading.Lock()

    def predict(self, device: str, subject: Subject, choice: int) -> None:
        """Keep a prediction until the next run. Raises Full."""
        with self._mutex:
            if device not in self._visitors and len(self._visitors) >= VOTERS:
                raise Full(Refusal.FULL)
            self._visitors.setdefault(device, Visitor()).open[subject] = choice

    def begin(self, subject: Subject, choices: int) -> list[int]:
        """Start a run: its predictions are fixed. Return how many visitors predict each of the choices."""
        with self._mutex:
            self._playing = subject
            for one in self._visitors.values():
                one.fixed.pop(subject, None)
                if subject in one.open:
                    one.fixed[subject] = Fixed(one.open.pop(subject))
            predicted = [one.fixed[subject].choice for one in self._visitors.values() if subject in one.fixed]
            return [predicted.count(choice) for choice in range(choices)]

    def settle(self, answer: int | None) -> None:
        """Count the predictions when the run is over.

        answer: the choice that came true. None: the run proves nothing, so no prediction counts, and all stand for the next run.
        """
        with self._mutex:
            subject, self._playing = self._playing, None
            if subject is None:
                return
            for one in self._visitors.values():
                if subject not in one.fixed:
                    continue
                if answer is None:
                    one.open.setdefault(subject, one.fixed.pop(subject).choice)
                else:
                    fixed = one.fixed[subject]
                    fixed.right = fixed.choice == answer
                    one.right += fixed.right
                    one.wrong += not fixed.right

    def voted(self, subject: Subject) -> int:
        """Return how many visitors have predicted the next run."""
        with self._mutex:
            return sum(subject in one.open for one in self._visitors.values())

    def of(self, device: str, subject: Subject) -> dict[str, Any]:
        """Return the predictions of one visitor: for the next run, for the run that has begun last, and the tally."""
        with self._mutex:
            one = self._visitors.get(device) or Visitor()
            fixed = one.fixed.get(subject)
            return {
                "next": one.open.get(subject),
                "last": None if fixed is None else {"choice": fixed.choice, "right": fixed.right},
                "right": one.right,
                "wrong": one.wrong,
            }

    def tally(self) -> dict[str, int]:
        """Return how many predictions of all visitors were right, and how many wrong."""
        with self._mutex:
            return {name: sum(getattr(one, name) for one in self._visitors.values()) for name in ("right", "wrong")}
