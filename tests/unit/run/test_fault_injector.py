"""Test each fault on the shelf: it is read from its table, prepared, injected once, and always recovered."""

import inspect
import json
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from app import failpoints
from app.failpoints.injection import Failpoints
from lab.errors import LabFailed
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import History
from lab.run import fault_injector
from lab.scenario.fault import ALL_NODES, FAILPOINTS, Fault, System
from lab.scenario.faults import faults, parse
from tests.command import wait_for
from tests.every import every

NODE = (1,)
NOTHING: tuple[list[Any], list[Any]] = ([], [])
# the calls at the injection, and the calls at the recovery; a fault without a line needs no call: the replica does all of it.
# RECORD stands for the fault record
RECORD = "the record"
CALLS: dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "cut_off": ([("cut_off", RECORD)], [("reconnect", RECORD)]),
    "delay_write": ([("delay_write", RECORD)], [("deliver_write", RECORD)]),
    "end_session": ([("end_sessions", RECORD)], []),
    "freeze": ([], [("resume_replica", RECORD)]),
    "hold_replication": ([("hold_replication",)], []),
    "jump_clock": ([("jump_clocks", NODE, 60_000)], [("jump_clocks", NODE, 0)]),
    "kill_leader": ([("kill_lock_leader",)], []),
    "kill_nodes": ([("kill_nodes", NODE)], [("recover_nodes", NODE)]),
    "lose_power": ([("lose_power",)], []),
    "kill_primary": ([("kill_nodes", NODE)], []),
    "restart_nodes": ([("kill_nodes", NODE), ("recover_nodes", ()), ("recover_nodes", NODE)], []),
    "restart_redis": ([("kill_nodes", ALL_NODES), ("recover_nodes", ALL_NODES)], []),
    "silence_nodes": ([("silence_nodes", NODE)], [("recover_nodes", NODE)]),
    "split_store": ([("split", RECORD)], []),
    "turn_clock_back": ([("jump_clocks", NODE, -60_000)], [("jump_clocks", NODE, 0)]),
    "stall_redis": ([("silence_nodes", ALL_NODES)], [("recover_nodes", ALL_NODES)]),
}
METHODS = {name: inspect.signature(method) for name, method in vars(System).items() if not name.startswith("_")}


class FakeSystem:
    """A system with exactly the methods of the protocol: an unknown method, or a wrong argument, fails the test."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        for name, signature in METHODS.items():
            setattr(self, name, partial(self._call, name, signature))

    def _call(self, name: str, signature: inspect.Signature, *given: Any) -> int:
        signature.bind(self, *given)
        self.calls.append((name, *(RECORD if isinstance(one, FaultRecord) else one for one in given)))
        return 1


def fault_of(kind: str, for_ms: int = 30) -> Fault:
    """Return a fault with its defaults; a time without a default is for_ms."""
    needed = [field.name for field in fields(faults()[kind]) if field.required]
    return parse({"kind": kind} | dict.fromkeys(needed, for_ms), "made.toml")


def reach(folder: Path, kind: str, number: int = 1) -> None:
    """Leave the note of a replica that reached the failpoint."""
    note = {"name": f"{kind}-{number}", "replica": "replica-1", "pid": 1, "request": "r1", "at_ns": time.monotonic_ns()}
    draft = folder / ".note"
    draft.write_text(json.dumps(note), encoding="utf-8")
    draft.rename(folder / f"{kind}-{number}.reached")
    (folder / f"{kind}-{number}.granted").touch()  # another request has the lock: a fault that awaits it is over in time


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return the folder of the prepared faults."""
    (tmp_path / "faults").mkdir()
    return tmp_path / "faults"


@every("kind", faults)
def test_fault_has_one_failpoint(kind, tmp_path):
    """Every fault is prepared at one failpoint."""
    fault_injector.prepare([fault_of(kind)], tmp_path / "faults")

    (path,) = (tmp_path / "faults").iterdir()
    injection = json.loads(path.read_text(encoding="utf-8"))
    assert injection["failpoint"] in FAILPOINTS
    assert injection["name"] == path.stem == f"{kind}-1"


@pytest.mark.parametrize("kind", faults())
def test_fault_is_injected_and_recovered(kind, folder):
    """Every fault is injected once, recovered in time, and recorded."""
    one, system = fault_of(kind), FakeSystem()

    with fault_injector.injecting([one], folder, system):
        reach(folder, kind)
        wait_for((folder.parent / "faults.jsonl").exists)

    (record,) = History(folder.parent).faults()
    assert system.calls == list(chain(*CALLS.get(kind, NOTHING))), f"add what {kind} calls to CALLS"
    assert record.recovered_ns - record.at_ns >= one.for_ms * 1_000_000
    assert (record.kind, record.request, record.failpoint, record.effect) == (kind, "r1", one.at, one.effect)


@pytest.fixture
def late():
    """Return a system whose lab is late: its calls begin only when ``late.may_go`` is set. ``late.calls`` has the calls."""
    system = FakeSystem()
    system.may_go = threading.Event()

    def wait_and(call) -> Any:
        def done(*given: Any) -> int:
            assert system.may_go.wait(10)
            return call(*given)

        return done

    for name in ("end_sessions", "silence_nodes"):
        setattr(system, name, wait_and(getattr(system, name)))
    return system


def test_holder_waits_for_a_late_lab(folder, late):
    """A holder waits until the lab has ended its session: otherwise the lab could end the session of a later holder."""
    fault = fault_of("end_session", for_ms=1)
    fault_injector.prepare([fault], folder.parent / "prepared")
    holder = threading.Thread(target=Failpoints(folder.parent / "prepared", "replica-1").reach, args=("read", "after", "r1"))

    with fault_injector.injecting([fault], folder.parent / "prepared", late):
        holder.start()
        holder.join(0.2)  # the lab is late by far more than for_ms
        waited = holder.is_alive()
        late.may_go.set()
        holder.join(5)

    assert waited
    assert not holder.is_alive()
    assert late.calls == [("end_sessions", RECORD)]


def test_late_fault_lasts_as_long(folder, late):
    """A fault that begins late lasts for ``for_ms`` after its beginning."""
    with fault_injector.injecting([fault_of("stall_redis", for_ms=100)], folder, late):
        reach(folder, "stall_redis")
        time.sleep(0.2)  # longer than for_ms
        late.may_go.set()
        wait_for(lambda: len(late.calls) == 2)

    (record,) = History(folder.parent).faults()
    assert record.recovered_ns - record.injected_ns >= 100 * 1_000_000


def test_lab_that_comes_too_late(folder, monkeypatch):
    """If the request has gone on before the lab did its part, the run fails: the fault acted on another holder."""
    monkeypatch.setattr(fault_injector, "ANSWERED_WITHIN_S", 0.0)
    injecting = fault_injector.injecting([fault_of("end_session")], folder, FakeSystem())

    def is_answered() -> None:
        reach(folder, "end_session")
        failpoints.wait_for(folder, "end_session-1", failpoints.ANSWER)

    with pytest.raises(LabFailed, match="end_session-1 came too late"), injecting:
        is_answered()


@pytest.mark.parametrize(
    ("kind", "is_granted", "past_s", "is_over"),
    [
        ("expire", False, 0, False),
        ("expire", True, 0, True),
        ("expire", True, -0.001, False),  # for_ms is not over
        ("expire", False, failpoints.GRANTED_WITHIN_S, True),  # a lock that is renewed is granted to no other request
        ("freeze", False, 0, False),
        ("freeze", True, 0, True),
    ],
)
def test_fault_that_awaits_a_grant(folder, kind, is_granted, past_s, is_over):
    """A fault that awaits the grant of another request lasts until that grant, but at most GRANTED_WITHIN_S longer."""
    injector = fault_injector._Injector([fault_of(kind)], folder, FakeSystem())
    if is_granted:
        (folder / f"{kind}-1.granted").touch()

    assert injector.is_over(fault_of(kind), f"{kind}-1", int(past_s * 1e9)) is is_over


def test_interrupted_run_recovers(folder):
    """A fault that still lasts is recovered when the run is interrupted."""
    one, system = fault_of("freeze", for_ms=300), FakeSystem()

    with suppress(KeyboardInterrupt), fault_injector.injecting([one], folder, system):
        reach(folder, "freeze")
        wait_for((folder / f"freeze-1{failpoints.ANSWER}").exists)
        raise KeyboardInterrupt

    assert system.calls == [("resume_replica", RECORD)]


@pytest.mark.parametrize(("method", "words"), [("silence_nodes", "injected"), ("recover_nodes", "recovered")])
def test_failed_fault_is_named(folder, method, words):
    """The error names the fault and its cause; a second fault, which still lasts, is recovered."""
    system = FakeSystem()

    def refuse(*_: object) -> int:
        system.calls.append((method,))
        raise OSError("no such server")

    setattr(system, method, refuse)
    two = [fault_of("stall_redis", for_ms=100), fault_of("cut_off", for_ms=100)]

    def both_are_reached() -> None:
        for kind, called in (("cut_off", ("cut_off", RECORD)), ("stall_redis", (method,))):
            reach(folder, kind, number=1 + (kind == "cut_off"))
            wait_for(lambda called=called: called in system.calls)

    injecting = fault_injector.injecting(two, folder, system)
    with pytest.raises(LabFailed, match=f"stall_redis-1 could not be {words}: OSError: no such server"), injecting:
        both_are_reached()

    assert ("reconnect", RECORD) in system.calls


def test_unreached_fault_is_not_recorded(folder):
    """A fault whose failpoint no request reached is not recorded."""
    with fault_injector.injecting([fault_of("kill")], folder, FakeSystem()):
        pass

    assert list(History(folder.parent).faults()) == []
