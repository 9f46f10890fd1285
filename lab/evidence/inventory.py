"""The inventory of a run: what its evidence was when the run ended. ``run.json`` keeps it, and ``lab check`` compares."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from lab.evidence.damage import Damage

PATTERNS = ("requests.jsonl", "server.jsonl", "faults.jsonl", "journal/*.jsonl")
MISSING = "is missing"


class FileFacts(msgspec.Struct, frozen=True):
    """One file of evidence when the run ended."""

    lines: int
    # of all bytes, in hexadecimal
    sha256: str


def inventory(folder: Path) -> dict[str, FileFacts]:
    """Return the facts of each file of evidence in a run folder, by its path in the folder."""
    paths = sorted(path for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file())
    return {str(path.relative_to(folder)): _facts(path) for path in paths}


def changes(folder: Path, files: Mapping[str, FileFacts]) -> Iterator[Damage]:
    """Yield what has changed since the run ended. files: the inventory; an older lab kept none, and then nothing is known."""
    now = inventory(folder)
    for name, facts in files.items():
        if name not in now:
            yield Damage(name, MISSING)
        elif now[name].lines != facts.lines:
            yield Damage(name, f"has {now[name].lines} lines, but had {facts.lines} when the run ended")
        elif now[name] != facts:
            yield Damage(name, "was changed after the run had ended")
    for name in now if files else ():
        if name not in files:
            yield Damage(name, "was added after the run had ended")


def _facts(path: Path) -> FileFacts:
    digest, lines = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            lines += block.count(b"\n")
    return FileFacts(lines, digest.hexdigest())
