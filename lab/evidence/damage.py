"""Damage: what is missing from a run folder, or cannot be true, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lab.text import counted


class Damage(NamedTuple):
    """One thing that is wrong with one file. As a text it is a sentence without its full stop."""

    # the file's path in the run folder
    file: str
    # the rest of the sentence: "is missing"
    what: str

    def __str__(self) -> str:
        return f"{self.file} {self.what}"


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
            yield Damage(file, f"has {counted(number, 'line')} that cannot be read ({'' if number == 1 else 'first: '}{where})")
