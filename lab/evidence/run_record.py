"""Define ``run.json``: how a run was made, how it ended, and the inventory of its evidence at its end.

``lab check`` compares the inventory with the files. A file that has changed, or that was added, is not read at all: it proves
nothing, for or against the lock. Each difference is called a damage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

SCHEMA = 1  # the version of run.json
Natural = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Time = Annotated[float, msgspec.Meta(ge=0, le=10**15)]


class Ending(Enum):
    """How a run ended. With each value but the first, the run was cut short."""

    COMPLETE = "complete"
    # Ctrl-C, SIGTERM, or a closed terminal
    INTERRUPTED = "interrupted"
    # the process that supervises the servers was killed, so the lab ended all servers
    UNSUPERVISED = "unsupervised"
    # a user stopped it in Locust's page
    STOPPED = "stopped"
    LOAD_FAILED = "load_failed"
    SERVER_LOST = "server_lost"
    # a part of the evidence could not be written
    NOT_WRITTEN = "not_written"
    FAILED = "failed"

    @property
    def is_interrupt(self) -> bool:
        """Return whether an interrupt ended the run: then the lab waits for nothing."""
        return self in (Ending.INTERRUPTED, Ending.UNSUPERVISED)


class ScenarioTable(msgspec.Struct):
    """List the keys that the scenario's table must have. Older runs may lack the keys that have a default."""

    name: str
    title: str
    tests: str
    requests: Natural
    users: Natural
    replicas: Natural
    retry_ms: Time
    work_ms: Time
    rate: Time | None
    ttl_ms: Natural | None
    danger: dict[str, Natural]
    nested: str = ""
    store_persists: bool = False
    store_syncs: str = "always"
    wait_ms: Time = 0
    lease_ms: Natural | None = None
    stock: Natural | None = None
    faults: list[dict[str, Any]] = []
    notes: list[str] = []


class StageTable(msgspec.Struct):
    """List the keys that the stage's table must have."""

    name: str
    store: str | None
    claims: list[str]
    ttl_ms: Natural | None = None


def check_tables(scenario: dict[str, Any], stage: dict[str, Any]) -> None:
    """Raise msgspec.ValidationError if a key is missing or has a wrong type; the message names its table."""
    for name, table, kind in (("scenario", scenario, ScenarioTable), ("stage", stage, StageTable)):
        try:
            msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(f"in its table {name}: {error}") from None


class FileFacts(msgspec.Struct, frozen=True):
    """Hold the hash of one file of evidence at the end of the run, in hexadecimal."""

    sha256: str


class ClockReading(msgspec.Struct, frozen=True):
    """One reading of a clock of another machine. Times are CLOCK_MONOTONIC in nanoseconds."""

    # when the clock was read, by the lab's clock
    at_ns: int
    # how far the clock was ahead of the lab's clock, and the largest error of that figure in either direction
    ahead_ns: int
    error_ns: Annotated[int, msgspec.Meta(ge=0)]


class RunRecord(msgspec.Struct, kw_only=True):
    """The content of ``run.json``: the parameters of a run and its environment, complete enough to judge the run again.

    Judging and drawing do not change it.
    """

    schema: int = SCHEMA
    # the name of the run
    run: str
    # the scenario and the stage, as plain data
    scenario: dict[str, Any]
    stage: dict[str, Any]
    # the command line that repeats the run
    command: str
    # the commit of the lab
    commit: str
    started_utc: str
    ended: Ending = Ending.COMPLETE
    # the servers that were lost, or the message of a program or an error; the same in each language
    ended_with: str = ""
    # why a part of the evidence is missing, if a file could not be written
    unwritten: str = ""
    # whether a client made the lock's store report fewer events of keys than the lab needs
    reports_off: bool = False
    # the counter before the run, and after it; None if it could not be read
    start: int = 0
    final: int | None = None
    # the counter after the run by its parts, if it has several
    parts: dict[str, int] = msgspec.field(default_factory=dict)
    # whether requests were still inside the replicas when the counter was read
    in_flight_left: bool = False
    # the engine that ran the servers: local, or a container engine
    engine: str = "local"
    # how many machines' clocks stamped the history
    clocks: Annotated[int, msgspec.Meta(ge=1)] = 1
    # by replica and Locust worker in containers: the clock that stamped its record; empty for the clock of the lab
    clock_of: dict[str, str] = msgspec.field(default_factory=dict)
    # by each other clock, its readings in the order of time
    clock_readings: dict[str, list[ClockReading]] = msgspec.field(default_factory=dict)
    # how many servers the lock's store had; None if that is not on record
    lock_servers: int | None = None
    # the replicas that took part
    took_part: list[str] = msgspec.field(default_factory=list)
    # each file of evidence, with its facts at the end of the run
    files: dict[str, FileFacts] = msgspec.field(default_factory=dict)
    # how often each command ran, by store
    commands: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    # the versions of the programs, and the machine
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    machine: dict[str, Any] = msgspec.field(default_factory=dict)
    # under load: the run's own processor time in seconds, and the percentage that other programs took; None if unknown
    processor_s: Time | None = None
    others_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None

    @property
    def has_store(self) -> bool:
        return self.stage["store"] is not None


PATTERNS = ("requests.jsonl", "server.jsonl", "faults.jsonl", "journal/*.jsonl")


class DamageKind(StrEnum):
    """The kind of a damage. The value is the code in ``verdict.json``, and the name of its words."""

    MISSING = "missing"
    # it differs from the file that the run wrote
    CHANGED = "changed"
    UNREADABLE = "unreadable"
    # run.json names a claim that this lab does not have
    UNKNOWN_CLAIM = "unknown_claim"
    # a replica left a note of a fault that faults.jsonl does not have
    FAULT_NOT_RECORDED = "fault_not_recorded"


class Damage(NamedTuple):
    """Describe one damage of one file."""

    # the file's path in the run folder
    file: str
    kind: DamageKind
    # the error of the file, or the name of the unknown claim or fault
    detail: str = ""


def inventory(folder: Path) -> dict[str, FileFacts]:
    """Return the facts of each file of evidence in a run folder, by its path in the folder. Raises OSError."""
    return {name: _facts(folder / name) for name in _present(folder)}


def changes(folder: Path, files: Mapping[str, FileFacts]) -> Iterator[Damage]:
    """Yield the damage of each file that has changed since the run, is missing, or was added. files: the run's inventory."""
    present = _present(folder)
    for name in sorted({*files, *present}):
        if name not in present:
            yield Damage(name, DamageKind.MISSING)
        elif not _is_same(folder / name, files.get(name)):
            yield Damage(name, DamageKind.CHANGED)


def _present(folder: Path) -> list[str]:
    """Return the paths of the files of evidence in a run folder."""
    return sorted(str(path.relative_to(folder)) for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file())


def _is_same(path: Path, before: FileFacts | None) -> bool:
    try:
        return _facts(path) == before
    except OSError:
        return False


def _facts(path: Path) -> FileFacts:
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest())
