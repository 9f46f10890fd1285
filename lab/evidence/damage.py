"""Damage: what is missing from a run folder, or cannot be true, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class DamageKind(StrEnum):
    """What is wrong with a file. The value is the code in ``verdict.json``, and the name of its words."""

    MISSING = "missing"
    ADDED = "added"
    CHANGED = "changed"
    OTHER_SIZE = "other_size"
    UNREADABLE = "unreadable"
    UNREADABLE_LINES = "unreadable_lines"
    # of run.json and verdict.json
    NO_INVENTORY = "no_inventory"
    NO_SEAL = "no_seal"
    CHANGED_SINCE_JUDGED = "changed_since_judged"
    UNKNOWN_CLAIM = "unknown_claim"
    # of faults.jsonl: a replica has a note of a fault, and the lab has no record of it
    FAULT_NOT_RECORDED = "fault_not_recorded"


class Damage(NamedTuple):
    """One thing that is wrong with one file."""

    # the file's path in the run folder
    file: str
    kind: DamageKind
    # how many lines, or bytes, and how many bytes there were when the run ended
    n: int = 0
    of: int = 0
    # the first line, the error, or the name that it is about
    detail: str = ""


class Flaws:
    """Count the lines that cannot be read, by file. They are left out of the judgement."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, file: str, where: str) -> None:
        """Count one line. where: its number, and what is wrong; of several lines the first is named."""
        number, first = self._found.get(file, (0, where))
        self._found[file] = number + 1, first

    def forget(self, file: str) -> None:
        """Start to count again: the file is read once more."""
        self._found.pop(file, None)

    def damages(self) -> Iterator[Damage]:
        """Yield what was found, one for each file."""
        for file, (number, where) in self._found.items():
            yield Damage(file, DamageKind.UNREADABLE_LINES, number, detail=where)
