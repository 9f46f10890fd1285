"""The heartbeat: a replica journals that it did not run for a while."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app import heartbeat
from app.heartbeat import Heartbeat
from app.journal import AnyEvent, Journal, Stalled
from tests.command import wait_for

REPLICA = """
import sys
from pathlib import Path
from app import heartbeat
from app.journal import Journal
heartbeat.start(Journal(Path(sys.argv[1])))
sys.stdin.read()
"""
STOPPED_S = 0.5


def stalls(path: Path) -> list[Stalled]:
    """Return the gaps that a journal has."""
    events = msgspec.json.Decoder(AnyEvent).decode_lines(path.read_bytes())
    return [event for event in events if isinstance(event, Stalled)]


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process with a journal and a heartbeat."""
    with subprocess.Popen([sys.executable, "-c", REPLICA, tmp_path / "journal"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_stopped_process_journals_the_gap(tmp_path, replica):
    """A process that was stopped from outside journals the gap, and that it did not run in it."""
    journal = tmp_path / "journal"
    wait_for(journal.exists)

    # shorter ones are waits for a processor
    while not (found := [one for one in stalls(journal) if one.until_ns - one.since_ns > STOPPED_S * 1e9 / 2]):
        os.kill(replica.pid, signal.SIGSTOP)
        time.sleep(STOPPED_S)
        os.kill(replica.pid, signal.SIGCONT)
        time.sleep(heartbeat.PERIOD_S)

    assert found[0].ran_ns < STOPPED_S * 1e9 / 2


def test_steady_heartbeat_is_silent(tmp_path, monkeypatch):
    """A beat that is in time writes nothing; a late one writes the gap once, without a wait that the kernel does not know."""
    now_ns = 10**9
    monkeypatch.setattr(heartbeat, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(heartbeat, "QUEUE", tmp_path / "missing")
    beats = Heartbeat(Journal(tmp_path / "journal"))

    for late_ms in (50, 199, 50, 201, 50):
        now_ns += late_ms * 1_000_000
        beats.beat()

    found = [(stall.until_ns - stall.since_ns, stall.queued_ns) for stall in stalls(tmp_path / "journal")]
    assert found == [(201_000_000, None)]


def test_wait_for_a_processor(tmp_path, monkeypatch):
    """A beat that waited for a processor is journaled, even where the gap is short."""
    now_ns, queue = 10**9, tmp_path / "queue"
    monkeypatch.setattr(heartbeat, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(heartbeat, "QUEUE", queue)
    queue.write_text("7 0 1\n")
    beats = Heartbeat(Journal(tmp_path / "journal"))

    for queued_ms in (9, 20, 95):
        now_ns += 90_000_000
        queue.write_text(f"7 {queued_ms}000000 1\n")
        beats.beat()

    assert [(stall.queued_ns, stall.stopped) for stall in stalls(tmp_path / "journal")] == [
        (11_000_000, None),
        (75_000_000, None),
    ]


def test_worker_waits_for_a_processor(tmp_path, monkeypatch):
    """What a worker waited for a processor counts as well: the longest wait of the two. A worker that is gone counts no more."""
    now_ns, own, worker = 10**9, tmp_path / "own", tmp_path / "7"
    monkeypatch.setattr(heartbeat, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(heartbeat, "QUEUE", own)
    monkeypatch.setattr(heartbeat, "QUEUE_OF_WORKER", str(tmp_path / "{}"))
    monkeypatch.setattr(heartbeat.injection, "COMPANIONS", {7})
    own.write_text("7 0 1\n")
    beats = Heartbeat(Journal(tmp_path / "journal"))

    for own_ms, worker_ms in ((0, 500), (5, 540), (45, 550), (45, None), (45, 900)):
        now_ns += 50_000_000
        own.write_text(f"7 {own_ms}000000 1\n")
        if worker_ms is None:
            worker.unlink()
        else:
            worker.write_text(f"9 {worker_ms}000000 1\n")
        beats.beat()

    assert [stall.queued_ns for stall in stalls(tmp_path / "journal")] == [40_000_000, 40_000_000]


def test_no_heartbeat_without_a_journal(monkeypatch):
    monkeypatch.setattr(heartbeat.threading, "Thread", None)  # would fail

    heartbeat.start(Journal(None))
