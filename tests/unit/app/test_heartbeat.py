"""Test the heartbeat: a replica journals each gap in which it did not run."""

from pathlib import Path

import msgspec

from app import heartbeat
from app.heartbeat import Heartbeat
from app.journal import AnyEvent, Journal, Stalled


def stalls(path: Path) -> list[Stalled]:
    """Return the stalls in a journal."""
    events = msgspec.json.Decoder(AnyEvent).decode_lines(path.read_bytes())
    return [event for event in events if isinstance(event, Stalled)]


def test_steady_heartbeat_is_silent(tmp_path, monkeypatch):
    """A beat in time writes nothing; a late beat writes its gap once, and no queue time if the kernel has no figure of it."""
    now_ns = 10**9
    monkeypatch.setattr(heartbeat, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(heartbeat, "QUEUE", tmp_path / "missing")
    beats = Heartbeat(Journal(tmp_path / "journal"))

    for late_ms in (50, 199, 50, 201, 50):
        now_ns += late_ms * 1_000_000
        beats.beat()

    found = [(stall.until_ns - stall.since_ns, stall.queued_ns) for stall in stalls(tmp_path / "journal")]
    assert found == [(201_000_000, None)]
