"""A short run once more, slowly: from evidence with known times."""

import msgspec

from app.journal import Started
from lab.evidence.history import Outcome, Request
from lab.story.timeline import Timeline
from lab.ui.replay import SHORT_S, STEPS, Inside, replay
from tests.builders import MS, Made, outlived, picture_of


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

    frames = replay(made.folder, made.analyse(None), picture_of(made, final=1))

    assert frames["until_s"] == 0.5
    assert len(frames["points"]) == STEPS + 1
    at = {round(point[0], 2): point[1:] for point in frames["points"]}
    assert (at[0.0], at[0.2], at[0.3], at[0.5]) == ([0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 1, 0], [2, 0, 1, 1])
    stays = [(*stay[:3], Inside(stay[3])) for stay in frames["stays"]]
    both = [(name, 0.01, 0.2, Inside.SEVERAL) for name in ("replica-1", "replica-2")]
    assert stays == [*both, ("replica-2", 0.2, 0.4, Inside.HOLDS)]


def test_holder_of_a_killed_replica_is_gone(tmp_path):
    """A holder that was killed was inside until its death, and a fault has its time."""
    made = Made(tmp_path / "run")
    made.increment("r1", 0, None, (1010, 1020, 1100, 0), outcome=None)
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=1200 * MS, pid=2))
    with (made.folder / "faults.jsonl").open("ab") as file:
        record = {"name": "kill_replica-1", "replica": "replica-1", "pid": 7, "request": "r1", "at_ns": 1050 * MS}
        file.write(msgspec.json.encode(record | {"recovered_ns": 1200 * MS}) + b"\n")
    answered(made, "r2", 1000, 1900)

    frames = replay(made.folder, made.analyse(None), picture_of(made, final=1))

    assert frames["stays"][0][:3] == ["replica-1", 0.01, 0.05]
    assert frames["faults"] == [{"kind": "kill replica", "replica": "replica-1", "from_s": 0.05, "until_s": 0.2}]


def test_no_stay_looks_better_than_it_is(tmp_path):
    """A holder whose lease is over is not painted as a holder, and two at once are a state of their own."""
    made = outlived(Made(tmp_path / "run"))
    answered(made, "r2", 0, 900, Outcome.FAILED)

    frames = replay(made.folder, made.analyse(1), picture_of(made, final=1, ttl_ms=300))

    assert [(name, begin, Inside(state).name) for name, begin, _, state in frames["stays"]] == [
        ("replica-1", 0.01, "HOLDS"),
        ("replica-1", 0.31, "LEASE_OVER"),
        ("replica-1", 0.331, "SEVERAL"),
        ("replica-2", 0.331, "SEVERAL"),
        ("replica-2", 0.461, "HOLDS"),
        ("replica-2", 0.47, "LEASE_OVER"),  # deleted by the other
    ]


def test_time_is_stretched_around_the_loss(tmp_path):
    """The moment of the loss has half of the replay: so its values can be seen one after the other."""
    made = outlived(Made(tmp_path / "run"))
    answered(made, "r2", 0, 1500, Outcome.FAILED)

    frames = replay(made.folder, made.analyse(1), picture_of(made, final=1, ttl_ms=300))

    (_, _), (begin_s, begin), (end_s, end), (_, last) = frames["pace"]
    assert begin_s < 0.77 < end_s
    assert (round(end - begin, 6), last) == (0.5, 1.0)
    assert sum(begin_s <= point[0] <= end_s for point in frames["points"]) >= STEPS / 2


def test_long_run_is_not_replayed(tmp_path):
    """A run that was seen well while it went on has no replay, and neither has a run without a request."""
    made = Made(tmp_path / "run")
    assert replay(made.folder, made.analyse(None), Timeline(stage="s")) is None
    answered(made, "r1", 0, int(1000 * SHORT_S) + 1)
    assert replay(made.folder, made.analyse(None), Timeline(stage="s")) is None
