"""What `lab explore --keep` has decided of each stage, as data: claims, faults, numbers of schedules, and no words.

The decisions are in ``reports/reference/explore.jsonl``, one line a stage. A decision has a hash of the stage's code, without
docstrings. Once that code has changed, it is not quoted any more.
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
Search = Mapping[str, Any]  # how many clients, their work and faults, and what was found; as ``lab explore --json`` has it


EXPLORED = (None, "redis", "redis_nodes")  # the stores of locks whose orders are searched


def why_not(stage: Stage) -> str:
    """Return why the orders of a stage are not searched; empty if they are."""
    if stage.worker:
        return "its lock is in a program of its own, whose threads the explorer cannot lead"
    return "" if stage.store in EXPLORED else f"orders are searched for locks on Redis, and its store is {stage.store}"


class KeptDecision(msgspec.Struct, kw_only=True):
    """What was decided of one stage."""

    stage: str
    # of the stage's source, of what it imports of the shelf, and of its resource
    sha256: str
    redis: str = ""
    # of how many servers the lock's store consists
    servers: int = 1
    ttl_ms: int = 0
    # how long the searches took at most, in seconds
    budget_s: float = 0.0
    # by claim: holds, breaks, not_decided or not_looked_at
    promises: dict[str, str] = {}
    searches: list[dict[str, Any]] = []
    # why nothing was decided; empty if something was
    why: str = ""
    # the shortest schedule that breaks the claim in ``drawn``, as ``lab.story.happening.Story`` has it; None without one
    story: Any = None

    @property
    def decided(self) -> int:
        """Return how many searches are decided."""
        return sum(one["decided"] for one in self.searches)


class CheapestBreak(NamedTuple):
    """The first search in which some schedule breaks the claim: the one with the cheapest faults."""

    # the number of events of a shortest schedule, and its short form
    events: int
    schedule: str
    # that search
    search: Search
    # of the schedules of that search, how many break the claim, and how many there are; None if they are not counted
    share: tuple[int, int] | None


class Summary(NamedTuple):
    """What is decided of one claim."""

    # the schedules in which it was put to the test and held; of searches that were decided only
    schedules: int
    # whether it was put to the test in a search that was decided
    held: bool
    broken: CheapestBreak | None
    # the searches that are not decided and that it needs
    undecided: tuple[Search, ...]


def of_claims(kept: KeptDecision) -> dict[Claim, Summary]:
    """Return what is decided of each claim that the searches put to the test, in the order of the claims."""
    found = {claim: _of_claim(kept, claim) for claim in Claim}
    return {claim: one for claim, one in found.items() if one != Summary(0, False, None, ())}


def _of_claim(kept: KeptDecision, claim: Claim) -> Summary:
    schedules, held, broken, undecided = 0, False, None, []
    for search in kept.searches:
        one = search.get("breaks", {}).get(claim.name)
        if one is not None and broken is None:
            share = (one["schedules"], search["schedules"]) if "schedules" in one else None
            broken = CheapestBreak(one["events"], one["schedule"], search, share)
        elif one is None and claim.name in search.get("holds", ()):
            schedules, held = schedules + (search["schedules"] or 0), True
        elif one is None and claim.name in search.get("missing_for", ()):
            undecided.append(search)
    return Summary(schedules, held, broken, tuple(undecided))


def slips() -> dict[str, Path]:
    """Return the locks of ``docs/slips`` by name. Each is a stage with one everyday mistake, or with one call of a library."""
    return {path.stem: path for path in sorted(SLIPS.glob("*.py"))}


def key_of(stage: Stage) -> str:
    """Return the name of a stage in the file; a lock of ``docs/slips`` has its folder before it."""
    return f"{SLIPS.name}/{stage.name}" if stage.path is not None and stage.path.parent == SLIPS else stage.name


@cache
def drawn() -> dict[str, str]:
    """Return the claim whose shortest schedule the documents draw or quote, by the name of the stage in the file."""
    listed: dict[str, str] = tomllib.loads(PICTURES.read_text(encoding="utf-8"))["schedule"]
    return listed


@cache
def read(key: str, path: Path = FILE) -> KeptDecision | None:
    """Return what is kept of a stage; None if nothing is."""
    record = read_lines(path).get(key)
    # numbers of schedules can have more than 64 bits: msgspec reads those as floats, and json does not
    return None if record is None else msgspec.convert(json.loads(record), KeptDecision)


@cache
def current(stage: Stage) -> KeptDecision | None:
    """Return what is kept of a stage, if it was decided on its present code."""
    kept = read(key_of(stage))
    return kept if kept is not None and kept.sha256 == fingerprint_of(stage) else None


def fingerprint_of(stage: Stage) -> str:
    """Return the hash of a stage's code, of what it imports of the shelf, and of its resource. Their docstrings are no code."""
    resource = Path(str(sys.modules[resource_kind(stage.resource).__module__].__file__))
    files = sorted(map(str, {resource, *_sources(Path(str(stage.path)), set())}))
    return hashlib.sha256(b"\0".join(hashlib.sha256(code_of(Path(path))).digest() for path in files)).hexdigest()


def _sources(path: Path, found: set[Path]) -> set[Path]:
    """Add a file to those that were found, and every file of the shelf that it imports. Return them all."""
    if path not in found:
        found.add(path)
        for one in _imported(path):
            _sources(one, found)
    return found


def _imported(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        for name in names:
            if name.startswith("app.locks.") and (file := SHELF / f"{name.split('.')[2]}.py").exists():
                yield file


def code_of(path: Path) -> bytes:
    """Return a source without its docstrings."""
    source = path.read_bytes()  # in whatever encoding it declares
    lines, kinds = source.splitlines(), (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            for number in range(said.lineno, (said.end_lineno or said.lineno) + 1):
                lines[number - 1] = b""
    return b"\n".join(line for line in lines if line)
