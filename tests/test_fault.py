"""Faults: read from their tables, done once, always healed."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest

from lab.errors import BadInput
from lab.evidence.history import History
from lab.run import fault_injector
from lab.scenario.fault import GATES
from lab.scenario.faults import faults, parse

NEEDED = {
    "freeze": {"for_ms": 50},
    "slow": {"for_ms": 50},
    "expire": {"for_ms": 50},
    "stall_redis": {"for_ms": 50},
    "restart_redis": {"for_ms": 50},
    "kill_nodes": {"for_ms": 50},
    "silence_nodes": {"for_ms": 50},
    "restart_nodes": {"for_ms": 50},
    "kill_primary": {"for_ms": 50},
    "jump_clock": {"for_ms": 50},
    "kill_leader": {"for_ms": 50},
    "end_session": {"for_ms": 50},
    "cut_off": {"for_ms": 50},
}


class Ledger:
    """A system that writes down what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __getattr__(self, name: str):
        return lambda *args: self.done.append(name) or 1


@pytest.mark.parametrize("kind", faults())
def test_every_fault_is_read_from_its_table_and_arms_one_gate(kind, tmp_path):
    one = parse({"kind": kind, **NEEDED.get(kind, {})}, "made.toml")

    fault_injector.arm([one], tmp_path / "gates")

    (path,) = (tmp_path / "gates").iterdir()
    armed = json.loads(path.read_text(encoding="utf-8"))
    assert armed["gate"] in GATES
    assert armed["name"] == path.stem == f"{kind}-1"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "freez", "for_ms": 1}, ["no fault 'freez'", "'freeze'"]),
        ({"kind": "freeze", "for_s": 1}, ["no key of freeze 'for_s'", "'for_ms'"]),
        ({"kind": "freeze"}, ["freeze", "for_ms"]),
        ({"kind": "kill", "at": "read.befor"}, ["no gate 'read.befor'", "'read.before'"]),
    ],
)
def test_a_fault_that_cannot_be_meant_is_refused(table, words):
    with pytest.raises(BadInput) as refusal:
        parse(table, "made.toml")

    for word in words:
        assert word in str(refusal.value)


def strike(folder, name: str) -> None:
    """As a replica leaves word."""
    word = {"name": name, "replica": "replica-1", "pid": 1, "request": "r1", "at_ns": time.monotonic_ns()}
    (folder / f"{name}.struck").write_text(json.dumps(word), encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "done"),
    [
        ("freeze", ["thaw"]),
        ("stall_redis", ["stop_lock_store", "thaw_lock_store"]),
        ("restart_redis", ["restart_lock_store"]),
        ("kill_nodes", ["kill_nodes", "revive_nodes"]),
        ("silence_nodes", ["silence_nodes", "revive_nodes"]),
        ("restart_nodes", ["kill_nodes", "revive_nodes", "revive_nodes"]),
        ("end_session", ["end_session"]),
        ("cut_off", ["cut_off", "connect_again"]),
    ],
)
def test_a_harm_is_done_healed_and_written_down(kind, done, tmp_path):
    (tmp_path / "gates").mkdir()
    one, system = parse({"kind": kind, "for_ms": 30}, "made"), Ledger()

    with fault_injector.harming([one], tmp_path / "gates", system, tmp_path / "faults.jsonl"):
        strike(tmp_path / "gates", f"{kind}-1")
        until = time.monotonic() + 5
        while not (tmp_path / "faults.jsonl").exists() and time.monotonic() < until:
            time.sleep(0.002)

    (struck,) = History(tmp_path).faults()
    assert system.done == done
    assert struck.recovered_ns - struck.at_ns >= 30_000_000
    assert (struck.kind, struck.request) == (kind, "r1")


def test_what_hurts_is_healed_when_the_run_is_cut_short(tmp_path):
    (tmp_path / "gates").mkdir()
    one, system = parse({"kind": "freeze", "for_ms": 300}, "made"), Ledger()

    with suppress(KeyboardInterrupt), fault_injector.harming([one], tmp_path / "gates", system, tmp_path / "faults.jsonl"):
        strike(tmp_path / "gates", "freeze-1")
        time.sleep(0.05)
        raise KeyboardInterrupt

    assert system.done == ["thaw"]


def test_a_fault_that_nobody_came_by_is_not_written_down(tmp_path):
    (tmp_path / "gates").mkdir()
    one = parse({"kind": "kill"}, "made")

    with fault_injector.harming([one], tmp_path / "gates", Ledger(), tmp_path / "faults.jsonl"):
        pass

    assert list(History(tmp_path).faults()) == []
