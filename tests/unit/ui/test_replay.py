"""A short run once more, slowly: from evidence with known times."""

from __future__ import annotations

import msgspec

from app.journal import Started
from lab.evidence.history import Outcome, Request
from lab.ui.replay import SHORT_S, STEPS, replay
from tests.builders import MS, Made


def answered(made: Made, request: str, start_ms: int, end_ms: int, outcome: Outcome = Outcome.ACKNOWLEDGED) -> None:
    made.line("requests.jsonl", Request(request, start_ms * MS, start_ms * MS, end_ms * MS, outcome, 200, "replica-1"))


def test_replay_shows_what_happened_when(tmp_path):
    """Each moment has the requests that were answered by then, and the counter as the last write before left it."""
    made = Made(tmp_path / "run")
    made.increment("r1", 0, 0, (1010, 1020, 1100, 1200), outcome=None)
    made.increment("r2", 0, 1, (1010, 1020, 1300, 1400), replica="replica-2", outcome=None)
    answered(made, "r1", 1000, 1250)
    answered(made, "r2", 1000, 1500)
    answered(made, "r3", 1000, 1400, Outcome.FAILED)

    frames = replay(made.folder, made.analyse(None))

    assert frames["until_s"] == 0.5
    assert len(frames["points"]) == STEPS + 1
    at = {round(point[0], 2): point[1:] for point in frames["points"]}
    assert (at[0.0], at[0.2], at[0.3], at[0.5]) == ([0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 1, 0], [2, 0, 1, 1])
    assert [stay[:3] for stay in frames["stays"]] == [["replica-1", 0.01, 0.2], ["replica-2", 0.01, 0.4]]


def test_holder_of_a_killed_replica_is_gone(tmp_path):
    """A holder that was killed held the lock until its replica was started again at the latest, and a fault has its time."""
    made = Made(tmp_path / "run")
    made.increment("r1", 0, None, (1010, 1020, 1100, 0), outcome=None)
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=1200 * MS, pid=2))
    with (made.folder / "faults.jsonl").open("ab") as file:
        record = {"name": "kill_replica-1", "replica": "replica-1", "pid": 7, "request": "r1", "at_ns": 1050 * MS}
        file.write(msgspec.json.encode(record | {"recovered_ns": 1200 * MS}) + b"\n")
    answered(made, "r2", 1000, 1900)

    frames = replay(made.folder, made.analyse(None))

    assert frames["stays"][0][:3] == ["replica-1", 0.01, 0.2]
    assert frames["faults"] == [{"kind": "kill replica", "replica": "replica-1", "from_s": 0.05, "until_s": 0.2}]


def test_long_run_is_not_replayed(tmp_path):
    """A run that was seen well while it went on has no replay, and neither has a run without a request."""
    made = Made(tmp_path / "run")
    assert replay(made.folder, made.analyse(None)) is None
    answered(made, "r1", 0, int(1000 * SHORT_S) + 1)
    assert replay(made.folder, made.analyse(None)) is None
