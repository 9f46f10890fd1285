"""Do the lab's part of each fault in a run, and end each fault when its ``for_ms`` is over.

A replica that reaches a failpoint with a prepared fault leaves a note. The injector sees the note, injects the fault, answers the
note, and recovers ``for_ms`` later. A fault is always recovered, however the run ends, and recorded in ``faults.jsonl``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic_ns

import msgspec

from app.failpoints import ANSWERED_WITHIN_S, GRANTED_WITHIN_S, NOTE, answer, may_end
from lab.errors import LabFailed
from lab.evidence.fault_record import FaultRecord
from lab.evidence.run_folder import described
from lab.scenario.fault import Fault, System, Target, kind_of

LOOK_EVERY_S = 0.003


def prepare(faults: Sequence[Fault], folder: Path) -> None:
    """Write a file for each fault, which the replicas read when they start."""
    folder.mkdir()
    for name, fault in _by_name(faults).items():
        text = json.dumps(dataclasses.asdict(fault.injection(name)))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


@contextlib.contextmanager
def injecting(faults: Sequence[Fault], folder: Path, system: System) -> Iterator[None]:
    """While the block runs, do the lab's part of each fault that a replica reports, and end it after ``for_ms``.

    When the block ends, however it ends, every active fault is recovered. Raises LabFailed if an injection or a recovery fails.
    """
    injector = _Injector(faults, folder, system)
    injector.start()
    try:
        yield
    finally:
        injector.finish()


def _by_name(faults: Sequence[Fault]) -> dict[str, Fault]:
    """Return the faults by their names in this run: the kind and a number."""
    return {f"{kind_of(fault)}-{number}": fault for number, fault in enumerate(faults, 1)}


class _Injector(threading.Thread):
    """Watch for the replicas' notes, in a thread."""

    def __init__(self, faults: Sequence[Fault], folder: Path, system: System) -> None:
        super().__init__(name="faults", daemon=True)
        self.pending = _by_name(faults)
        self.active: list[tuple[Fault, FaultRecord]] = []
        self.over_ns: dict[str, int] = {}  # by the fault's name: when to recover it
        self.folder, self.system, self.record = folder, system, folder.with_suffix(".jsonl")
        self.over = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(LOOK_EVERY_S):
                self.look()
        except KeyboardInterrupt:  # the supervisor process is gone, and the main thread is interrupted as well
            self.pending.clear()
        except Exception as error:  # noqa: BLE001 - raised again when the run ends
            self.failure = error

    def look(self) -> None:
        """Inject each fault with a new note, and recover each fault whose time is over."""
        for name, fault in list(self.pending.items()):
            note = self.folder / f"{name}{NOTE}"
            if note.exists():
                del self.pending[name]
                self.inject(fault, msgspec.json.decode(note.read_bytes(), type=FaultRecord))
        now_ns = monotonic_ns()
        for fault, record in list(self.active):
            if self.is_over(fault, record.name, now_ns - self.over_ns[record.name]):
                self.recover(fault, record)

    def is_over(self, fault: Fault, name: str, past_ns: int) -> bool:
        """Return whether to recover a fault now, ``past_ns`` nanoseconds after its ``for_ms``."""
        awaits = (fault.awaits_grant or fault.writes_late) and past_ns < GRANTED_WITHIN_S * 1e9
        return past_ns >= 0 and not (awaits and not may_end(self.folder, name))

    def inject(self, fault: Fault, record: FaultRecord) -> None:
        """Do the lab's part, then let the request at the failpoint go on; with ``lab_first``, ``for_ms`` counts from then on."""
        record.kind, record.failpoint, record.effect = kind_of(fault), fault.at, fault.effect
        self.active.append((fault, record))
        try:
            with _named_failure(record, "injected"):
                fault.inject(self.system, record)
            done_ns = monotonic_ns()
        finally:
            answer(self.folder, record.name)
        record.injected_ns = record.injected_ns or (record.at_ns if fault.target is Target.REPLICA else done_ns)
        record.done_ns = done_ns if fault.lab_first else 0
        self.over_ns[record.name] = (record.done_ns or record.at_ns) + fault.for_ms * 1_000_000
        if record.done_ns - record.at_ns > ANSWERED_WITHIN_S * 1e9:
            raise LabFailed(f"the fault {record.name} came too late: the request at the failpoint had gone on before")

    def recover(self, fault: Fault, record: FaultRecord) -> None:
        self.active.remove((fault, record))
        record.recovering_ns = monotonic_ns()
        with _named_failure(record, "recovered"):
            fault.recover(self.system, record)
        record.recovered_ns = monotonic_ns()
        with self.record.open("ab") as file:
            file.write(msgspec.json.encode(record) + b"\n")

    def finish(self) -> None:
        """Wait until the active faults are over; then stop injecting, and recover all others."""
        if self.is_alive():
            until = time.monotonic() + max((fault.for_ms for fault, _ in self.active), default=0) / 1000
            while self.active and time.monotonic() < until:
                time.sleep(LOOK_EVERY_S)
        self.over.set()
        self.join()
        for note in self.folder.glob(f"*{NOTE}"):
            answer(self.folder, note.stem)  # no request must wait for an injector that has ended
        for fault, record in list(self.active):
            try:
                self.recover(fault, record)
            except LabFailed as error:  # the remaining faults still have to be recovered
                self.failure = self.failure or error
        if self.failure is not None:
            raise self.failure


@contextlib.contextmanager
def _named_failure(record: FaultRecord, action: str) -> Iterator[None]:
    """Raise LabFailed with the name of the fault for any error of the block. action: injected or recovered."""
    try:
        yield
    except Exception as error:
        raise LabFailed(f"the fault {record.name} could not be {action}: {described(error)}") from error
