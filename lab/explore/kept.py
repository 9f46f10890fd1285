"""The decisions that the documents quote: one file a stage in ``reports/reference/explore``, with the stories to draw.

The locks in ``docs/slips`` have theirs in a folder below. A file has a hash of the stage's code, without docstrings. Once that
code has changed, its decision is not quoted any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from app.lock import Stage
from lab.explore.code.program import Program, Task
from lab.explore.decision import Decision
from lab.explore.result import as_data
from lab.explore.schedule import fingerprint
from lab.explore.store.real_redis import Scripts
from lab.paths import HOME, REFERENCE

FOLDER = REFERENCE / "explore"
SLIPS = HOME / "docs" / "slips"
DRIFTS = ("seconds", "states", "transitions")  # from one search to the next, or with the search's own cunning


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
    # as ``lab explore --json`` has them, without what drifts
    promises: dict[str, str] = {}
    searches: list[dict[str, Any]] = []
    # why nothing was decided; empty where something was
    why: str = ""
    # the shortest schedule of each claim that breaks, as ``lab.story.happening.Story`` has it
    stories: dict[str, Any] = {}

    @property
    def decided(self) -> int:
        """Return how many searches are decided."""
        return sum(one["decided"] for one in self.searches)


def fingerprint_of(stage: Stage) -> str:
    """Return the hash of a stage's code as it is now. No server is asked."""
    return fingerprint(Program(stage, Task(1000), Scripts()))


def of(decision: Decision, stories: Mapping[str, Any], budget_s: float) -> KeptDecision:
    """Return what is kept of a decision. stories: the shortest schedule of each claim that breaks."""
    data = as_data(decision)
    return KeptDecision(
        stage=decision.stage.name,
        sha256=fingerprint_of(decision.stage),
        redis=decision.redis,
        servers=decision.servers,
        ttl_ms=decision.ttl_ms,
        budget_s=budget_s,
        promises=data["promises"],
        searches=[{name: value for name, value in one.items() if name not in DRIFTS} for one in data["searches"]],
        why="" if any(one.is_decided for one in decision.answers) else decision.answers[0].about,
        stories=dict(stories),
    )


def slips() -> dict[str, Path]:
    """Return the locks of ``docs/slips`` by name. Each is a stage with one everyday mistake, or with one call of a library."""
    return {path.stem: path for path in sorted(SLIPS.glob("*.py"))}


def folder_of(stage: Stage) -> Path:
    """Return the folder of a stage's file."""
    return FOLDER / SLIPS.name if stage.path is not None and stage.path.parent == SLIPS else FOLDER


def write(kept: KeptDecision, folder: Path = FOLDER) -> Path:
    """Write the file of a stage, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kept.stage}.json"
    path.write_text(_in_lines(msgspec.to_builtins(kept)), encoding="utf-8")
    return path


def _in_lines(fields: dict[str, Any]) -> str:
    """Return an object as JSON: a line for each field, and for each item of a field that has several, so that a diff is short."""
    lines = []
    for name, value in fields.items():
        if isinstance(value, list) and value:
            text = "[\n " + ",\n ".join(map(_compact, value)) + "\n]"
        elif isinstance(value, dict) and value:
            text = "{\n " + ",\n ".join(f"{_compact(key)}: {_compact(one)}" for key, one in value.items()) + "\n}"
        else:
            text = _compact(value)
        lines.append(f"{_compact(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()


@cache
def read(name: str, folder: Path = FOLDER) -> KeptDecision | None:
    """Return what is kept of a stage; None where nothing is."""
    path = folder / f"{name}.json"
    # numbers of schedules can have more than 64 bits: msgspec reads those as floats, and json does not
    return msgspec.convert(json.loads(path.read_bytes()), KeptDecision) if path.exists() else None


@cache
def current(stage: Stage) -> KeptDecision | None:
    """Return what is kept of a stage, if it was decided on its present code."""
    kept = read(stage.name, folder_of(stage))
    return kept if kept is not None and kept.sha256 == fingerprint_of(stage) else None
