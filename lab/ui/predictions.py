"""What a class predicts of runs, and how often it was right, for as long as the page's server runs.

A prediction is for a stage under a scenario: will it lose any? It counts from the run that starts next, and can be changed
until then. Who predicts is known by a number that the browser made up, and by a name if one was given.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

NAME_LETTERS = 40
READERS = 1000  # a class, and not whoever fills the memory
Question = tuple[str, str]  # stage, scenario


class Full(Exception):  # noqa: N818 - says what happened
    """There are as many readers as will be counted."""


@dataclass
class Reader:
    """One who predicts. open: by question, whether it will lose any; settled: the questions of runs that have begun."""

    name: str = ""
    right: int = 0
    wrong: int = 0
    open: dict[Question, bool] = field(default_factory=dict)
    settled: set[Question] = field(default_factory=set)


class Predictions:
    """All readers' predictions. Safe to use from many threads."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}
        self._playing: tuple[Question, dict[str, bool]] | None = None
        self._shown: set[Question] = set()
        self._mutex = threading.Lock()

    def predict(self, reader: str, name: str, question: Question, loses: bool) -> None:
        """Keep it until the next run. Raises Full."""
        with self._mutex:
            if reader not in self._readers and len(self._readers) >= READERS:
                raise Full(f"{READERS} readers are counted already")
            one = self._readers.setdefault(reader, Reader())
            one.name = " ".join(name.split())[:NAME_LETTERS]
            one.open[question] = loses

    def begin(self, question: Question) -> dict[str, int]:
        """A run starts: what was predicted of it can be changed no more. How many say that it loses some, and none."""
        with self._mutex:
            taken = {key: one.open.pop(question) for key, one in self._readers.items() if question in one.open}
            self._playing = (question, taken)
            for key in taken:
                self._readers[key].settled.add(question)
            return _sides(taken)

    def settle(self, lost: bool | None) -> dict[str, int]:
        """The run is over. lost: whether it lost any; None where it proves nothing: nobody is counted, and what was predicted
        stands for the next one.
        """
        with self._mutex:
            question, taken = self._playing or (("", ""), {})
            self._playing = None
            if lost is not None:
                self._shown.add(question)
                for key, loses in taken.items():
                    self._readers[key].right += loses == lost
                    self._readers[key].wrong += loses != lost
            else:
                for key, loses in taken.items():
                    self._readers[key].open.setdefault(question, loses)
            return _sides(taken)

    def asked(self, question: Question) -> dict[str, int]:
        """How many say what of the run that has not begun."""
        with self._mutex:
            return _sides({key: one.open[question] for key, one in self._readers.items() if question in one.open})

    def of(self, reader: str, question: Question) -> bool | None:
        """What this reader says of the run that has not begun; None for nothing."""
        with self._mutex:
            one = self._readers.get(reader)
            return None if one is None else one.open.get(question)

    def may_see(self, reader: str, question: Question) -> bool:
        """Whether the reference's result gives nothing away: it was predicted, or everybody has seen a run of it."""
        with self._mutex:
            one = self._readers.get(reader)
            return question in self._shown or (one is not None and (question in one.open or question in one.settled))

    def tally(self) -> dict[str, Any]:
        """Right and wrong, of all and by name, the best first; who gave no name is counted among all."""
        with self._mutex:
            played = [one for one in self._readers.values() if one.right + one.wrong]
        named = sorted((one for one in played if one.name), key=lambda one: (-one.right, one.wrong, one.name))
        return {
            "right": sum(one.right for one in played),
            "wrong": sum(one.wrong for one in played),
            "names": [{"name": one.name, "right": one.right, "wrong": one.wrong} for one in named[:20]],
        }


def _sides(said: dict[str, bool]) -> dict[str, int]:
    return {"some": sum(said.values()), "none": len(said) - sum(said.values())}
