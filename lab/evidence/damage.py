"""Damage: what is missing from a run folder, or cannot be true, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from lab.text import counted


class Damage(NamedTuple):
    """One thing that is wrong with one file. As a text it is a sentence without its full stop."""

    # the file's path in the run folder
    file: str
    # the rest of the sentence: "is missing"
    what: str
    # whether all that the run wrote is still there, as it is where a line is there twice
    complete: bool = False

    def __str__(self) -> str:
        return f"{self.file} {self.what}"


class Flaw(StrEnum):
    """What is wrong with single lines, as the end of a sentence."""

    UNREADABLE = "that cannot be read"
    DOUBLED = "more than once"
    MISPLACED = "out of the order of time"
    IMPOSSIBLE = "that cannot be true"
    ORPHANED = "without the line of the grant before"
    UNRELEASED = "of an acknowledged request without the release after"
    INCOMPLETE = "without the number that was answered"


class Flaws:
    """Count the lines that are wrong, by file. Such a line is left out of the judgement."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Flaw], tuple[int, str]] = {}

    def add(self, file: str, flaw: Flaw, where: str) -> None:
        """Count one line. where: its number or its request; of several lines the first is named."""
        number, first = self._found.get((file, flaw), (0, where))
        self._found[file, flaw] = number + 1, first

    def forget(self, file: str) -> None:
        """Start to count again: the file is read once more."""
        for key in [key for key in self._found if key[0] == file]:
            del self._found[key]

    def damages(self) -> Iterator[Damage]:
        """Yield what was found, one for each file and kind."""
        for (file, flaw), (number, where) in self._found.items():
            what = f"has {counted(number, 'line')} {flaw} ({'' if number == 1 else 'first: '}{where})"
            yield Damage(file, what, complete=flaw is Flaw.DOUBLED)
