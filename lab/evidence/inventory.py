"""The inventory of a run, what its evidence was when the run ended, and the damage: what is missing since, or cannot be true.

``run.json`` keeps the inventory, and ``lab check`` compares.
A file that has changed, or that was added, is not read at all: it proves nothing, for or against the lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.errors import in_short

PATTERNS = ("requests.jsonl", "server.jsonl", "faults.jsonl", "journal/*.jsonl")


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


class FileFacts(msgspec.Struct, frozen=True):
    """One file of evidence when the run ended."""

    # of all bytes, in hexadecimal
    sha256: str
    # how many bytes; 0 in the record of an older lab
    size: int = 0


def inventory(folder: Path) -> dict[str, FileFacts]:
    """Return the facts of each file of evidence in a run folder, by its path in the folder. Raises OSError."""
    return {name: _facts(folder / name) for name in _present(folder)}


def changes(folder: Path, files: Mapping[str, FileFacts]) -> Iterator[Damage]:
    """Yield what has changed since the run ended. files: the inventory; without one, nothing is known."""
    present = _present(folder)
    for name, facts in files.items():
        found = _changed(name, folder / name, facts) if name in present else Damage(name, DamageKind.MISSING)
        if found is not None:
            yield found
    for name in present if files else ():
        if name not in files:
            yield Damage(name, DamageKind.ADDED)


def _present(folder: Path) -> list[str]:
    """Return the paths of what has the name of a file of evidence, whatever it is."""
    return sorted(str(path.relative_to(folder)) for pattern in PATTERNS for path in folder.glob(pattern))


def _changed(name: str, path: Path, before: FileFacts) -> Damage | None:
    """Return how a file differs from what it was; None if it does not."""
    try:
        size = path.stat().st_size
        if size != before.size and before.size:
            return Damage(name, DamageKind.OTHER_SIZE, size, before.size)
        return None if _facts(path).sha256 == before.sha256 else Damage(name, DamageKind.CHANGED)
    except OSError as error:
        return Damage(name, DamageKind.UNREADABLE, detail=error.strerror or in_short(error))


def _facts(path: Path) -> FileFacts:
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)
