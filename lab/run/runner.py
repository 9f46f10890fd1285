"""Make one run from beginning to end: bring up, drive, inject faults, read the counter, take down."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from app.lock import Stage
from lab.errors import NotReady, in_short
from lab.evidence.run_folder import RunFolder, described, kept_on_failure, save
from lab.evidence.run_record import Ending, RunRecord, inventory
from lab.interrupts import Signals, unless_interrupted
from lab.load.locust import LoadFailed
from lab.paths import REPORTS, shortage
from lab.run import environment
from lab.run.environment import Processors
from lab.run.fault_injector import injecting, prepare
from lab.scenario.fault import Fault, kind_of
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster
from lab.servers.supervisor import Supervisor, SupervisorGone

if TYPE_CHECKING:
    from lab.servers.store import EventRecorder


class CutShort(Exception):  # noqa: N818 - an event
    """A user stopped a run before all requests were sent. This is no error."""


# Sends the requests of a run to a cluster, with its folder. Returns when all have ended, or soon after the last function returns
# False. Raises LoadFailed or CutShort.
Drive = Callable[[Cluster, Path, Callable[[], bool]], None]
ClusterFactory = Callable[..., AbstractContextManager[Cluster]]


def run(
    signals: Signals,
    supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    drive: Drive,
    command: str,
    bring_up: ClusterFactory,
    engine: str,
    reports: Path = REPORTS,
    drive_injects: bool = False,
) -> tuple[RunFolder, RunRecord]:
    """Make one run. Return its folder, not yet published, and its record, which is saved there as ``run.json``.

    ``signals`` are released only while the run goes on. ``bring_up`` starts the servers, and ``engine`` is its name. An
    interrupt, or a server that ends, cuts the run short: ``record.ended`` names the reason. ``drive_injects``: the drive itself
    injects the faults. Raises MissingProgram or NotReady if the run could not begin, and LabFailed if it broke off: then the
    folder is kept.
    """
    folder = RunFolder.create(scenario.name, stage.name, reports)
    record = RunRecord(
        run=folder.name,
        scenario=_plain(scenario),
        stage=_plain_stage(stage, scenario),
        command=command,
        commit="",
        started_utc=datetime.now(UTC).isoformat(timespec="milliseconds"),
        machine=environment.machine(),
        engine=engine,
    )
    begun = False
    with kept_on_failure(folder), ThreadPoolExecutor(1) as aside:
        versions = environment.versions if engine == "local" else environment.packages
        facts = aside.submit(lambda: (environment.commit(), versions()))  # while the servers start
        try:
            signals.release()
            faults = () if drive_injects else scenario.faults
            prepare(faults, folder.path / "faults")
            with bring_up(supervisor, stage, scenario, folder.name, folder.path) as system:
                begun, record.lock_servers = True, len(system.lock_store)
                record.versions = dict(system.versions)
                local_supervisor = supervisor if engine == "local" else None
                _run(system, scenario, faults, drive, folder, record, local_supervisor)
                if system.clocks is not None:
                    with contextlib.suppress(OSError):  # the readings of the beginning are enough
                        system.clocks.look_again()
                    record.clocks = system.clocks.number
                    record.clock_of, record.clock_readings = system.clocks.clock_of, system.clocks.readings
            record.files = inventory(folder.path)  # all servers have ended and write nothing more
            signals.hold()  # the run is complete: from here, an interrupt must not keep it from its verdict and its name
        except KeyboardInterrupt as interrupt:
            if not begun:
                folder.discard()
                raise
            record.ended = _ended_by(interrupt)
        except Exception as error:
            record.ended, record.ended_with = Ending.FAILED, described(error)
            raise
        finally:
            signals.hold()
            if begun:
                with contextlib.suppress(OSError):
                    record.files = record.files or inventory(folder.path)  # a run that was cut short has an inventory too
                record.commit, known = facts.result()
                record.versions |= known
                save(folder.path / "run.json", record)
    return folder, record


def _run(
    system: Cluster,
    scenario: Scenario,
    faults: Sequence[Fault],
    drive: Drive,
    folder: RunFolder,
    record: RunRecord,
    supervisor: Supervisor | None,
) -> None:
    """Do the part of a run during which all servers are up.

    faults: those that are injected here. supervisor: None if the servers run elsewhere.
    """
    lost: list[str] = []

    def is_well() -> bool:
        lost.extend(name for name in system.dead() if name not in lost)
        record.unwritten = record.unwritten or shortage(folder.path)
        return not lost and not record.unwritten

    with contextlib.ExitStack() as watching:
        (folder.path / "server.jsonl").touch()  # the file exists even if no recorder writes to it: so a missing file was lost
        recorders = system.event_recorders(folder.path / "server.jsonl")
        watching.callback(_close, recorders)
        before, processors = system.commands(), Processors(supervisor.pid) if supervisor else None
        try:
            path = folder.path / "faults"
            with injecting(faults, path, system.fault_target) if faults else contextlib.nullcontext():
                drive(system, folder.path, lambda: unless_interrupted() or is_well())
        except LoadFailed as failure:
            record.ended, record.ended_with = Ending.LOAD_FAILED, str(failure)
            record.unwritten = failure.unwritten
        except CutShort:
            record.ended = Ending.STOPPED
        except KeyboardInterrupt as interrupt:
            record.ended = _ended_by(interrupt)
        record.processor_s, record.others_percent = processors.used() if processors else (None, None)
        if not record.ended.is_interrupt and not is_well() and lost:
            record.ended, record.ended_with = Ending.SERVER_LOST, ", ".join(lost)
        with _settling(record):
            # a run that was cut short does not wait for answers: a moment shows whether requests are still inside. After an
            # interrupt the lab does not ask, because busy replicas would answer late
            patience_s = scenario.request_timeout_s if record.ended is Ending.COMPLETE else 0.5
            record.in_flight_left = record.ended.is_interrupt or not system.quiet(patience_s)
            failures = [in_short(recorder.failure) for recorder in recorders if recorder.failure]
            why = "; ".join(dict.fromkeys(filter(None, [record.unwritten, *system.failures("unwritten"), *failures])))
            record.unwritten = why.replace(f"{folder.path}/", "")
            if record.unwritten and not record.ended.is_interrupt:
                record.ended, record.ended_with = Ending.NOT_WRITTEN, record.unwritten
            record.reports_off = any(recorder.is_silenced for recorder in recorders)
            record.commands = {store: dict(Counter(calls) - Counter(before[store])) for store, calls in system.commands().items()}
            parts = system.parts()  # read after the commands are counted, so that this reading is not one of them
            record.final = None if parts is None else sum(parts.values())
            record.parts = parts if parts and set(parts) != {""} else {}
            if not record.ended.is_interrupt and (reasons := system.failures("worker")):
                raise NotReady(reasons[0])
        if record.ended.is_interrupt:  # requests that are still inside would delay the end of the servers
            for replica in system.replicas:
                replica.end_now()
        record.took_part = sorted(path.stem for path in (folder.path / "journal").glob("*.jsonl"))


def _close(recorders: Sequence[EventRecorder]) -> None:
    """Close recorders. All end at the same time."""
    with contextlib.ExitStack() as closing:  # close each recorder, even if another one fails
        for recorder in recorders:
            closing.callback(recorder.close)
            recorder.ask_to_end()


@contextlib.contextmanager
def _settling(record: RunRecord) -> Iterator[None]:
    """Skip the rest of the block on an interrupt at the end of a run, and record the interrupt."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        record.ended, record.in_flight_left = _ended_by(interrupt), True


def _ended_by(interrupt: KeyboardInterrupt) -> Ending:
    return Ending.UNSUPERVISED if isinstance(interrupt, SupervisorGone) else Ending.INTERRUPTED


def _plain(scenario: Scenario) -> dict[str, Any]:
    fields = dataclasses.asdict(scenario)
    fields["faults"] = [
        {"kind": kind_of(fault), "target": fault.target.value, "effect": fault.effect.value, **asdict(fault)}
        for fault in scenario.faults
    ]
    return fields | {"tests": scenario.tests.name, "needs": list(scenario.needs), "notes": list(scenario.notes)}


def _plain_stage(stage: Stage, scenario: Scenario) -> dict[str, Any]:
    return {
        "name": stage.name,
        "store": stage.store,
        "claims": sorted(claim.name for claim in stage.claims),
        "ttl_ms": scenario.ttl_ms if stage.ttl_ms else None,
        "worker": list(stage.worker),
    }
