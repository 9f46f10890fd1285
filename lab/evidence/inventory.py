"""The inventory of a run: what its evidence was when the run ended. ``run.json`` keeps it, and ``lab check`` compares.

A file that has changed, or that was added, is not read at all: it proves nothing, for or against the lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from lab.errors import in_short
from lab.evidence.damage import Damage, DamageKind

PATTERNS = ("requests.jsonl", "server.jsonl", "faults.jsonl", "journal/*.jsonl")


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
