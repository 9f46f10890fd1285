"""Read the decisions of `lab explore --keep` on each stage, as data: claims, faults, numbers of schedules, and no words.

The decisions are in ``reports/reference/explore.jsonl``, one line a stage. A decision has a hash of the stage's code, without
docstrings. If that code has changed, nobody quotes the decision any more.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from app import locks
from app.lock import Claim, Stage
from app.resources import kind as resource_kind
from lab.evidence.record_lines import read_lines
from lab.paths import DOCS, REFERENCE

FILE = REFERENCE / "explore.jsonl"
SLIPS = DOCS / "slips"
PICTURES = DOCS / "pictures.toml"
SHELF = Path(locks.__file__).parent
Search = Mapping[str, Any]  # one search of ``lab explore --json``: the number of clients, their work and faults, the results


EXPLORED = (None, "redis", "redis_nodes")  # the stores of the locks that the explorer can search


def why_not(stage: Stage) -> str:
    """Return why the explorer cannot search a stage; empty if it can."""
    if stage.worker:
        return "its lock is in a program of its own, whose threads the explorer cannot lead"
    return "" if stage.store in EXPLORED else f"orders are searched for locks on Redis, and its store is {stage.store}"


class KeptDecision(msgspec.Struct, kw_only=True):
    """The decision on one stage."""

    stage: str
    # hash of the stage's source, of its imports from the shelf, and of its resource
    sha256: str
    ttl_ms: int = 0
    # the time limit of the searches, in seconds
    budget_s: float = 0.0
    # by the name of a claim: holds, breaks, not_decided or not_looked_at
    promises: dict[str, str] = {}
    searches: list[dict[str, Any]] = []
    # why nothing was decided; empty if there is a decision
    why: str = ""
    # the shortest schedule that breaks the claim in ``drawn``, as ``lab.story.happening.Story`` has it; None without one
    story: Any = None


class CheapestBreak(NamedTuple):
    """The first search with a schedule that breaks the claim. Searches with cheaper faults come first."""

    # the number of events of a shortest schedule, and its short form
    events: int
    schedule: str
    search: Search
    # how many schedules of that search break the claim, and how many schedules it has; None if they were not counted
    share: tuple[int, int] | None


class Summary(NamedTuple):
    """The decision on one claim."""

    # how many schedules tested the claim, in the decided searches in which it held
    schedules: int
    # whether the claim held in any decided search
    held: bool
    broken: CheapestBreak | None
    # the searches without a decision that the claim needs
    undecided: tuple[Search, ...]


def of_claims(kept: KeptDecision) -> dict[Claim, Summary]:
    """Return the decision on each claim that the searches tested, in the order of the claims."""
    summaries = {claim: _of_claim(kept, claim) for claim in Claim}
    return {claim: summary for claim, summary in summaries.items() if summary != Summary(0, False, None, ())}


def _of_claim(kept: KeptDecision, claim: Claim) -> Summary:
    schedules, held, broken, undecided = 0, False, None, []
    for search in kept.searches:
        broken_by = search.get("breaks", {}).get(claim.name)
        if broken_by is not None and broken is None:
            share = (broken_by["schedules"], search["schedules"]) if "schedules" in broken_by else None
            broken = CheapestBreak(broken_by["events"], broken_by["schedule"], search, share)
        elif broken_by is None and claim.name in search.get("holds", ()):
            schedules, held = schedules + (search["schedules"] or 0), True
        elif broken_by is None and claim.name in search.get("missing_for", ()):
            undecided.append(search)
    return Summary(schedules, held, broken, tuple(undecided))


def slips() -> dict[str, Path]:
    """Return the locks of ``docs/slips`` by name. Each is a stage with one everyday mistake, or with one call of a library."""
    return {path.stem: path for path in sorted(SLIPS.glob("*.py"))}


def key_of(stage: Stage) -> str:
    """Return the name of a stage in the file: a lock of ``docs/slips`` has that folder as a prefix."""
    return f"{SLIPS.name}/{stage.name}" if stage.path is not None and stage.path.parent == SLIPS else stage.name


@cache
def drawn() -> dict[str, str]:
    """Return the claims whose shortest schedules the documents draw or quote, by the names of stages in ``pictures.toml``."""
    listed: dict[str, str] = tomllib.loads(PICTURES.read_text(encoding="utf-8"))["schedule"]
    return listed


@cache
def read(key: str, path: Path = FILE) -> KeptDecision | None:
    """Return the kept decision on a stage; None if there is none."""
    record = read_lines(path).get(key)
    # numbers of schedules can exceed 64 bits: msgspec reads these as floats, json does not
    return None if record is None else msgspec.convert(json.loads(record), KeptDecision)


@cache
def current(stage: Stage) -> KeptDecision | None:
    """Return the kept decision on a stage; None if there is none, or if the stage's code has changed since."""
    kept = read(key_of(stage))
    return kept if kept is not None and kept.sha256 == fingerprint_of(stage) else None


def fingerprint_of(stage: Stage) -> str:
    """Return the hash of a stage's code, of its imports from the shelf, and of its resource, all without docstrings."""
    resource = Path(str(sys.modules[resource_kind(stage.resource).__module__].__file__))
    files = sorted(map(str, {resource, *_sources(Path(str(stage.path)), set())}))
    return hashlib.sha256(b"\0".join(hashlib.sha256(code_of(Path(path))).digest() for path in files)).hexdigest()


def _sources(path: Path, sources: set[Path]) -> set[Path]:
    """Add a file, and every file of the shelf that it imports, to ``sources``. Return ``sources``."""
    if path not in sources:
        sources.add(path)
        for imported in _imported(path):
            _sources(imported, sources)
    return sources


def _imported(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        for name in names:
            if name.startswith("app.locks.") and (file := SHELF / f"{name.split('.')[2]}.py").exists():
                yield file


def code_of(path: Path) -> bytes:
    """Return a source without its docstrings."""
    source = path.read_bytes()  # bytes, because a source may declare any encoding
    lines, kinds = source.splitlines(), (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for number in range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1):
                lines[number - 1] = b""
    return b"\n".join(line for line in lines if line)
