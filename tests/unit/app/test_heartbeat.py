"""The heartbeat: a replica journals that it did not run for a while."""

from pathlib import Path

import msgspec

from app import heartbeat
from app.heartbeat import Heartbeat
from app.journal import AnyEvent, Journal, Stalled


def stalls(path: Path) -> list[Stalled]:
    """Return the gaps that a journal has."""
    events = msgspec.json.Decoder(AnyEvent).decode_lines(path.read_bytes())
    return [event for event in events if isinstance(event, Stalled)]


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
