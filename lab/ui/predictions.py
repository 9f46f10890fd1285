"""Predictions of a class, and how often they were right, for as long as the page's server runs.

A prediction is about a stage under a scenario: it is one of the choices of the claim's question. It counts for the next run of
the two, and can be changed until that run starts. From then on it stays, and the run answers it. Until then nobody gets to know
the predictions of others, only their number. A visitor is known by the number of a browser alone (``joining.py``).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

from lab.ui.both_sides import Refusal

VOTERS = 200  # enough for a class; a limit, so that posts cannot fill the memory
Subject = tuple[str, str]  # stage, scenario


class Full(Exception):  # noqa: N818 - an event
    """The largest number of visitors has predicted."""


class Predictions:
    """All visitors' predictions. Safe to use from many threads."""

    def __init__(self) -> None:
        self._open: dict[Subject, dict[str, int]] = defaultdict(dict)  # for the next runs: choices by the visitor's device
        self._fixed: dict[Subject, dict[str, int]] = defaultdict(dict)  # for the last runs that have begun
        self._came_true: dict[Subject, int] = {}  # by question: the choice that came true in its last run
        self._right: dict[str, list[bool]] = {}  # by device: whether each prediction that a run has answered was right
        self._playing: Subject | None = None
        self._mutex = threading.Lock()

    def predict(self, device: str, subject: Subject, choice: int) -> None:
        """Keep a prediction until the next run. Raises Full."""
        with self._mutex:
            if device not in self._right and len(self._right) >= VOTERS:
                raise Full(Refusal.FULL)
            self._right.setdefault(device, [])
            self._open[subject][device] = choice

    def begin(self, subject: Subject, choices: int) -> list[int]:
        """Start a run: its predictions are fixed. Return how many visitors predict each of the choices."""
        with self._mutex:
            self._playing = subject
            self._fixed[subject] = self._open.pop(subject, {})
            self._came_true.pop(subject, None)
            predicted = list(self._fixed[subject].values())
            return [predicted.count(choice) for choice in range(choices)]

    def settle(self, answer: int | None) -> None:
        """Count the predictions when the run is over.

        answer: the choice that came true. None: the run proves nothing, so no prediction counts, and the next run has them all.
        """
        with self._mutex:
            subject, self._playing = self._playing, None
            if subject is None:
                return
            if answer is None:
                self._open[subject] = self._fixed.pop(subject) | self._open[subject]
                return
            self._came_true[subject] = answer
            for device, choice in self._fixed[subject].items():
                self._right[device].append(choice == answer)

    def voted(self, subject: Subject) -> int:
        """Return how many visitors have predicted the next run."""
        with self._mutex:
            return len(self._open[subject])

    def of(self, device: str, subject: Subject) -> dict[str, Any]:
        """Return the predictions of one visitor: for the next run, for the run that has begun last, and the tally."""
        with self._mutex:
            choice, came_true = self._fixed[subject].get(device), self._came_true.get(subject)
            last = {"choice": choice, "right": None if came_true is None else choice == came_true}
            of_next = {"next": self._open[subject].get(device), "last": None if choice is None else last}
            return of_next | _tally(self._right.get(device, []))

    def tally(self) -> dict[str, int]:
        """Return how many predictions of all visitors were right, and how many wrong."""
        with self._mutex:
            return _tally([one for answers in self._right.values() for one in answers])


def _tally(answers: list[bool]) -> dict[str, int]:
    return {"right": sum(answers), "wrong": len(answers) - sum(answers)}
