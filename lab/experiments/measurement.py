"""A measurement: a series of points in one file, with when and where they were measured. The file is written as it grows.

All measurements of many runs have this form: sweeps, benchmarks, growth, the locks alone, both loops. Each adds what a point is,
and its table and its picture. So an interrupt of any of them keeps what was measured until then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from lab.errors import BadInput
from lab.evidence.run_folder import save as save_record
from lab.interrupts import interruptible
from lab.paths import REPORTS
from lab.run import environment

COMPLETE = "complete"

Point = TypeVar("Point")  # what one run showed, or one comparison, or one lock


class Measurement(msgspec.Struct, Generic[Point], kw_only=True):
    """What all measurements state of themselves. Each kind adds how it was made."""

    schema: int = 2
    # when it was made; where it takes long, when it began
    measured_utc: str
    commit: str
    machine: dict[str, Any]
    versions: dict[str, str]
    # the command that made it; empty where that follows from the kind
    command: str = ""
    # in the order in which they were measured
    points: list[Point] = msgspec.field(default_factory=list)
    # how many there should be; 0 where nobody knows before
    planned: int = 0
    # ``complete``, or why there are fewer points
    ended: str = COMPLETE

    @property
    def day(self) -> str:
        """Return the day on which it was made."""
        return self.measured_utc[:10]

    @property
    def cores(self) -> str:
        """Return the machine in words."""
        return f"{self.machine['cores']} cores ({self.machine['processor']})"

    @property
    def partial(self) -> str:
        """Return why the measurement is partial; empty if all was measured."""
        of = f" of {self.planned}" if self.planned else ""
        return "" if self.ended == COMPLETE else f"{self.ended}: {len(self.points)}{of} points were measured"


Kind = TypeVar("Kind", bound=Measurement[Any])


def made_now(kind: type[Kind], **about: Any) -> Kind:
    """Return a measurement of this kind, made now by this lab on this machine."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    where: dict[str, Any] = {"commit": environment.commit(), "machine": environment.machine(), "versions": environment.versions()}
    return kind(measured_utc=now, **where, **about)


def new_place(stem: str) -> Path:
    """Return where a measurement goes for which nobody named a place: ``reports/STEM-TIME``. Two at once have two places."""
    return REPORTS / f"{stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"


def record(
    found: Measurement[Point], points: Iterable[Point], path: Path, on_point: Callable[[Point], object] = lambda _: None
) -> None:
    """Add points as they are measured, and write the file after each. What ends it early is noted in the file, and raised."""
    found.ended = "cut short"  # replaced at the end; a lab that is killed cannot replace it
    try:
        with interruptible():
            for point in points:
                found.points.append(point)
                save(found, path)
                on_point(point)
        found.ended = COMPLETE
    except KeyboardInterrupt:
        found.ended = "interrupted"
        raise
    finally:
        if found.points:
            save(found, path)


def save(found: Measurement[Any], path: Path, table: str = "") -> list[Path]:
    """Write the file, whole or not at all, and its table, if it has one, next to it as Markdown. Return the paths."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_record(path, found)
    if not table:
        return [path]
    path.with_suffix(".md").write_text(table, encoding="utf-8")
    return [path, path.with_suffix(".md")]


def load(path: Path, kind: type[Kind]) -> Kind:
    """Return the measurement in a file. Raises BadInput where there is none."""
    try:
        found: Kind = msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{path.parent} holds no {path.name} of this lab: {error}") from None
    return found
