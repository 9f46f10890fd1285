"""The injector: it does the lab's part of each fault in a run, and undoes it in time.

A replica that comes by an armed failpoint notes that it did; the injector sees the note, injects the fault, and recovers
``for_ms`` later. A fault is always recovered, however the run ends, and recorded in ``faults.jsonl``.
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

from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Fault, System, kind_of

LOOK_EVERY_S = 0.003


def arm(faults: Sequence[Fault], folder: Path) -> None:
    """Write the gates' files, before the replicas start."""
    folder.mkdir()
    for number, fault in enumerate(faults, 1):
        name = f"{kind_of(fault)}-{number}"
        text = json.dumps(dataclasses.asdict(fault.armed(name)))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


@contextlib.contextmanager
def harming(faults: Sequence[Fault], folder: Path, system: System, record: Path) -> Iterator[None]:
    """While the block runs, follow what the replicas report: do the lab's part of each harm, and heal it in time.

    When the block ends, however it ends, whatever is not healed yet is healed. Raises what a harm or a healing raised.
    """
    if not faults:
        yield
        return
    watch = _Watch(faults, folder, system, record)
    watch.start()
    try:
        yield
    finally:
        watch.finish()


class _Watch(threading.Thread):
    """The thread that sees replicas being struck."""

    def __init__(self, faults: Sequence[Fault], folder: Path, system: System, record: Path) -> None:
        super().__init__(name="faults", daemon=True)
        self.waiting = {f"{kind_of(fault)}-{number}": fault for number, fault in enumerate(faults, 1)}
        self.hurting: list[tuple[Fault, FaultRecord]] = []
        self.folder, self.system, self.record = folder, system, record
        self.over = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(LOOK_EVERY_S):
                self.look()
        except Exception as error:  # noqa: BLE001 - told to the run when it ends
            self.failure = error

    def look(self) -> None:
        for name, fault in list(self.waiting.items()):
            note = self.folder / f"{name}.struck"
            if note.exists():
                struck = msgspec.json.decode(note.read_bytes(), type=FaultRecord)
                struck.kind, struck.failpoint = kind_of(fault), fault.at
                del self.waiting[name]
                self.hurting.append((fault, struck))
                fault.harm(self.system, struck)
        now_ns = monotonic_ns()
        for fault, struck in list(self.hurting):
            if now_ns >= struck.at_ns + fault.for_ms * 1_000_000:
                self.heal(fault, struck)

    def heal(self, fault: Fault, struck: FaultRecord) -> None:
        self.hurting.remove((fault, struck))
        struck.recovering_ns = monotonic_ns()
        fault.heal(self.system, struck)
        struck.recovered_ns = monotonic_ns()
        with self.record.open("ab") as file:
            file.write(msgspec.json.encode(struck) + b"\n")

    def finish(self) -> None:
        """Nothing more is struck: heal what is not. A harm that is still going on is given its time."""
        if self.is_alive():
            until = time.monotonic() + max((fault.for_ms for fault, _ in self.hurting), default=0) / 1000
            while self.hurting and time.monotonic() < until:
                time.sleep(LOOK_EVERY_S)
        self.over.set()
        self.join()
        for fault, struck in list(self.hurting):
            self.heal(fault, struck)
        if self.failure is not None:
            raise self.failure
