"""What a class predicts of runs, and how often it was right, for as long as the page's server runs.

A prediction is about a stage under a scenario: will it lose increments? It counts for the next run
of the two, and can be changed until that run starts. A visitor is known by a number that the
browser made up, and by a name if the visitor gave one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

NAME_LETTERS = 40
VISITORS = 1000  # enough for a class; a limit, so that posts cannot fill the memory
Question = tuple[str, str]  # stage, scenario


class Full(Exception):  # noqa: N818 - states what happened
    """The largest number of visitors has predicted."""


@dataclass
class Visitor:
    """A visitor who predicts."""

    name: str = ""
    right: int = 0  # how many predictions were right
    wrong: int = 0
    # the prediction for the next run, by question: will it lose increments?
    open: dict[Question, bool] = field(default_factory=dict)
    settled: set[Question] = field(default_factory=set)  # the questions of runs that have begun


class Predictions:
    """All visitors' predictions. Safe to use from many threads."""

    def __init__(self) -> None:
        self._visitors: dict[str, Visitor] = {}
        self._playing: tuple[Question, dict[str, bool]] | None = None
        self._shown: set[Question] = set()
        self._mutex = threading.Lock()

    def predict(self, reader: str, name: str, question: Question, loses: bool) -> None:
        """Keep a prediction until the next run. Raises Full."""
        with self._mutex:
            if reader not in self._visitors and len(self._visitors) >= VISITORS:
                raise Full(f"{VISITORS} visitors have predicted already, which is the most")
            one = self._visitors.setdefault(reader, Visitor())
            one.name = " ".join(name.split())[:NAME_LETTERS]
            one.open[question] = loses

    def begin(self, question: Question) -> dict[str, int]:
        """Start a run: its predictions are fixed. Return how many predict that it loses some, and none."""
        with self._mutex:
            taken = {key: one.open.pop(question) for key, one in self._visitors.items() if question in one.open}
            self._playing = (question, taken)
            for key in taken:
                self._visitors[key].settled.add(question)
            return _sides(taken)

    def settle(self, lost: bool | None) -> dict[str, int]:
        """Count the predictions when the run is over. Return them.

        lost: whether the run lost increments. None: it proves nothing, so no prediction counts, and
        all stand for the next run.
        """
        with self._mutex:
            question, taken = self._playing or (("", ""), {})
            self._playing = None
            if lost is not None:
                self._shown.add(question)
                for key, loses in taken.items():
                    self._visitors[key].right += loses == lost
                    self._visitors[key].wrong += loses != lost
            else:
                for key, loses in taken.items():
                    self._visitors[key].open.setdefault(question, loses)
            return _sides(taken)

    def asked(self, question: Question) -> dict[str, int]:
        """Return the predictions for the next run."""
        with self._mutex:
            return _sides({key: one.open[question] for key, one in self._visitors.items() if question in one.open})

    def of(self, reader: str, question: Question) -> bool | None:
        """Return this visitor's prediction for the next run, or None."""
        with self._mutex:
            one = self._visitors.get(reader)
            return None if one is None else one.open.get(question)

    def may_see(self, reader: str, question: Question) -> bool:
        """Return whether the reference result may be shown: the visitor predicted it, or a run has
        shown it to everyone.
        """
        with self._mutex:
            one = self._visitors.get(reader)
            return question in self._shown or (one is not None and (question in one.open or question in one.settled))

    def tally(self) -> dict[str, Any]:
        """Return the numbers of right and wrong predictions, in all and by name, the best first.

        Visitors without a name count only in the total.
        """
        with self._mutex:
            played = [one for one in self._visitors.values() if one.right + one.wrong]
        named = sorted((one for one in played if one.name), key=lambda one: (-one.right, one.wrong, one.name))
        return {
            "right": sum(one.right for one in played),
            "wrong": sum(one.wrong for one in played),
            "names": [{"name": one.name, "right": one.right, "wrong": one.wrong} for one in named[:20]],
        }


def _sides(predicted: dict[str, bool]) -> dict[str, int]:
    return {"some": sum(predicted.values()), "none": len(predicted) - sum(predicted.values())}
