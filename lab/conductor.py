"""One run from beginning to end: the one place where cluster, load and (later) faults meet."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from app.lock import LEASE_GIVES_UP, Stage
from lab import circumstances
from lab.cluster import Cluster
from lab.crew import crew
from lab.engine import cluster, engine
from lab.fault import arm, harming, kind_of
from lab.findings import Findings
from lab.keeper import Keeper
from lab.load import Load, LoadFailed
from lab.run import REPORTS, RunFolder, RunRecord, save
from lab.scenario import Scenario
from lab.services.gunicorn import THREADS
from lab.verdict import Judgement, judge

COMPLETE = "complete"
INTERRUPTED = "interrupted"


class Interrupted(KeyboardInterrupt):
    """Somebody asked the lab to stop: Ctrl-C, or SIGTERM, or a closed terminal."""


class CutShort(Exception):  # noqa: N818 - says what happened
    """Not everything was sent, and nothing is wrong; the message says why."""


class Drive(Protocol):
    """What sends the requests of a run."""

    def __call__(self, system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        """Return when all have ended, or soon after ``well`` says no. Raises LoadFailed and CutShort."""


@dataclasses.dataclass(frozen=True)
class Conducted:
    """A finished run: its record, the judgement, and what the history said (for drawing)."""

    folder: RunFolder
    record: RunRecord
    judgement: Judgement
    findings: Findings


def by_locust(keeper: Keeper, scenario: Scenario, on_progress: Callable[[int], None]) -> Drive:
    """The usual drive: Locust, headless, in a process of its own."""

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        load = Load(keeper, scenario, system.address, folder, len(system.workers))
        try:
            with crew(system.workers, scenario, system.address, folder):
                load.wait(on_progress, well)
        finally:
            load.stop()

    return drive


def conduct(
    keeper: Keeper,
    stage: Stage,
    scenario: Scenario,
    drive: Drive,
    command: str,
    shelf_name: str | None = None,
    reports: Path = REPORTS,
    on_up: Callable[[Cluster], None] = lambda system: None,
) -> Conducted:
    """Bring up, drive, wait until all is quiet, read the counter, take down, judge. The folder is not yet published.

    Whatever cuts the run short (an interrupt, a server that dies) is in ``record.ended``; what was recorded until then is
    judged. Raises MissingProgram and NotReady when it could not begin.
    """
    for known in (circumstances.commit, circumstances.versions, circumstances.machine):
        known()  # they ask programs, which takes a moment: not while there is a folder that an interrupt would leave
    folder = RunFolder.create(scenario.name, stage.name, reports)
    record = RunRecord(
        run=folder.name,
        scenario=_plain(scenario),
        stage=_plain_stage(stage, scenario),
        command=command,
        commit=circumstances.commit(),
        started_utc=datetime.now(UTC).isoformat(timespec="milliseconds"),
        versions=circumstances.versions(),
        machine=circumstances.machine(),
        threads=THREADS,
        engine=engine(),
    )
    begun = False
    arm(scenario.faults, folder.path / "gates")
    try:
        with cluster()(keeper, stage, scenario, folder.name, folder.path, shelf_name) as system:
            begun, record.clocks = True, system.clocks
            on_up(system)
            _run(system, scenario, drive, folder, record)
    except KeyboardInterrupt:
        if not begun:
            folder.discard()
            raise
        record.ended = INTERRUPTED
    except Exception:
        folder.discard()
        raise
    save(folder.path / "run.json", record)
    judgement, findings = judge(folder.path)
    save(folder.path / "verdict.json", judgement)
    return Conducted(folder, record, judgement, findings)


def _run(system: Cluster, scenario: Scenario, drive: Drive, folder: RunFolder, record: RunRecord) -> None:
    """The part of a run during which everything is up."""
    lost: list[str] = []

    def well() -> bool:
        lost.extend(name for name in system.dead() if name not in lost)
        return not lost

    record.client_options = system.client_options()
    with contextlib.ExitStack() as watching:
        for witness in system.witnesses(folder.path / "server.jsonl"):
            watching.callback(witness.close)
        before = system.commands()
        try:
            with harming(scenario.faults, folder.path / "gates", system, folder.path / "faults.jsonl"):
                drive(system, folder.path, lambda: _unless_interrupted() or well())
        except LoadFailed as failure:
            record.ended = f"the load failed: {failure}"
        except CutShort as cut:
            record.ended = str(cut)
        except KeyboardInterrupt:
            record.ended = INTERRUPTED
        if not well():
            record.ended = f"lost a server in the middle of the run: {', '.join(lost)}"
        with settling(record):
            # cut short, nobody waits for answers any more: a moment is enough to know whether somebody is still inside;
            # and after an interrupt not even to ask, which busy replicas would answer in their own time
            patience_s = scenario.request_timeout_s if record.ended == COMPLETE else 0.5
            record.in_flight_left = record.ended == INTERRUPTED or not system.quiet(patience_s)
            record.commands = _difference(before, system.commands())
            parts = system.parts()  # after the count, which it would otherwise be in
            record.final = None if parts is None else sum(parts.values())
            record.parts = parts if parts and set(parts) != {""} else {}
        if record.ended == INTERRUPTED:  # whoever is still inside would hold up the end
            for replica in system.replicas:
                replica.abandon()
        record.took_part = sorted(path.stem for path in (folder.path / "journal").glob("*.jsonl"))


@contextlib.contextmanager
def settling(record: RunRecord) -> Iterator[None]:
    """An interrupt while the run is being wound up: leave the rest, but say so."""
    try:
        yield
    except KeyboardInterrupt:
        record.ended = INTERRUPTED
        record.in_flight_left = True


def _difference(before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {
        store: {
            name: calls - before.get(store, {}).get(name, 0)
            for name, calls in counts.items()
            if calls > before.get(store, {}).get(name, 0)
        }
        for store, counts in after.items()
    }


def _plain(scenario: Scenario) -> dict[str, Any]:
    fields = dataclasses.asdict(scenario)
    fields["faults"] = [{"kind": kind_of(fault), **vars(fault)} for fault in scenario.faults]
    return fields | {"tests": scenario.tests.name, "needs": list(scenario.needs), "notes": list(scenario.notes)}


def _plain_stage(stage: Stage, scenario: Scenario) -> dict[str, Any]:
    return {
        "name": stage.name,
        "idea": stage.story.idea,
        "follows": stage.follows,
        "store": stage.store,
        "resource": stage.resource,
        "claims": sorted(claim.name for claim in stage.claims - (LEASE_GIVES_UP if scenario.lease_ms else frozenset())),
        "ttl_ms": scenario.ttl_ms if stage.ttl_ms else None,
    }


_interrupted = threading.Event()


def _unless_interrupted() -> bool:
    """Raise again what may have been raised where nobody could hear it: Python swallows exceptions in finalizers."""
    if _interrupted.is_set():
        raise Interrupted
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the lab as Ctrl-C does: everything stopped, the partial run kept."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        _interrupted.set()
        raise Interrupted(signal.Signals(number).name)

    _interrupted.clear()
    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
