"""The heartbeat: a replica journals that it did not run for a while."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app import heartbeat
from app.heartbeat import Heartbeat
from app.journal import AnyEvent, Journal, Stalled

REPLICA = """
import sys
from pathlib import Path
from app import heartbeat
from app.journal import Journal
heartbeat.start(Journal(Path(sys.argv[1])))
sys.stdin.read()
"""


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
