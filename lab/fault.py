"""A fault: a harm with parameters. Arming it puts a gate before the replicas; being struck does the harm; healing undoes it.

``lab/faults`` holds one a file, a dataclass ``Harm`` whose fields are its TOML keys. A fault is always healed, whatever
happens, and writes down whom it hit and when (``faults.jsonl``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic_ns
from typing import Any, Protocol

import msgspec

from app.failpoints import MOMENTS, PHASES, Injection
from lab.choice import BadInput, chosen
from lab.strike import Strike

GATES = tuple(f"{phase}.{moment}" for phase in PHASES for moment in MOMENTS)
LOOK_EVERY_S = 0.003


class System(Protocol):
    """What a fault may lay hands on."""

    def thaw(self, struck: Strike) -> None:
        """Let the struck process go on."""

    def stop_lock_store(self) -> None:
        """Stop the lock's store where it is."""

    def thaw_lock_store(self) -> None:
        """Let it go on."""

    def restart_lock_store(self) -> None:
        """Kill it and start it again at its address, with what it kept on disk."""

    def kill_nodes(self, nodes: Sequence[int]) -> None:
        """Kill some of the lock store's servers, counted from 1; those that are not there are left out."""

    def silence_nodes(self, nodes: Sequence[int]) -> None:
        """Stop them where they are: they take what they are sent, and answer nothing."""

    def jump_clocks(self, nodes: Sequence[int], by_ms: int) -> int:
        """Set their clocks off by so much; how many were seen to move."""

    def revive_nodes(self, nodes: Sequence[int]) -> None:
        """Let them go on, or start them again with what they kept on disk."""

    def cut_off(self, struck: Strike) -> None:
        """Let nothing through between the struck replica and the lock's store."""

    def connect_again(self, struck: Strike) -> None:
        """Let it through again."""

    def kill_lock_leader(self) -> None:
        """Kill the server that leads the lock's store; it does not come back."""

    def end_session(self, struck: Strike) -> int:
        """Have the lock's store end the sessions of the struck replica; how many."""


class Fault(Protocol):
    """One harm. at: the gate where it strikes. skip: how many grants of a replica pass before."""

    @property
    def at(self) -> str: ...

    @property
    def for_ms(self) -> int: ...

    def armed(self, name: str) -> Injection:
        """What a replica is to do when it comes by the gate."""

    def harm(self, system: System, struck: Strike) -> None:
        """What the lab does when it has: called once, soon after. The harm is over for_ms later."""

    def heal(self, system: System, struck: Strike) -> None:
        """Undo it; may be called when nothing is left to undo."""


def parse(table: Mapping[str, Any], where: str) -> Fault:
    """A fault from its TOML table: ``kind``, and the fields of that kind. Raises BadInput."""
    from lab.faults import faults

    shelf = faults()
    fields = dict(table)
    kind = chosen("fault", str(fields.pop("kind", "")), shelf, where)
    known = [field.name for field in dataclasses.fields(shelf[kind])]
    for key in fields:
        chosen(f"key of {kind}", key, known, where)
    try:
        fault: Fault = shelf[kind](**fields)
    except TypeError as error:
        raise BadInput(f"{where}: fault {kind}: {error}") from None
    chosen("gate", fault.at, GATES, where)
    return fault


def kind_of(fault: Fault) -> str:
    """The file it is in."""
    return type(fault).__module__.rpartition(".")[2]


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
        self.hurting: list[tuple[Fault, Strike]] = []
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
                struck = msgspec.json.decode(note.read_bytes(), type=Strike)
                struck.kind, struck.gate = kind_of(fault), fault.at
                del self.waiting[name]
                self.hurting.append((fault, struck))
                fault.harm(self.system, struck)
        now_ns = monotonic_ns()
        for fault, struck in list(self.hurting):
            if now_ns >= struck.at_ns + fault.for_ms * 1_000_000:
                self.heal(fault, struck)

    def heal(self, fault: Fault, struck: Strike) -> None:
        self.hurting.remove((fault, struck))
        struck.healing_ns = monotonic_ns()
        fault.heal(self.system, struck)
        struck.healed_ns = monotonic_ns()
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
