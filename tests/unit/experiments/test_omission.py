"""What a closed loop hides: made runs of which the waits are known by hand.

A server answers each request in the same time, but for one second in which it is frozen. Every 10 ms a request is due.
"""

import heapq

import msgspec
import pytest

from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.history import Outcome, Recorder, Request
from lab.experiments import omission, omission_report
from lab.experiments.benchmarks import omission as bench
from lab.experiments.measurement import made_now
from lab.experiments.omission import LUA, SITUATIONS, UNFROZEN, Loop, OmissionBenchmark, TimedRun, longer_than, quantile
from lab.scenario import reader
from lab.scenario.scenario import override
from lab.scenario.stages import find_stage
from tests.every import every

REQUESTS, EVERY_MS = 300, 10
FROM_MS, UNTIL_MS = 1000, 2000


def made(users: int | None, takes_ms: float = 0, situation=LUA, number: int = 1) -> TimedRun:
    """Return a run. users: how many wait for answers; None for an open loop."""
    due = [float(EVERY_MS * place) for place in range(REQUESTS)]
    free = [0.0] * (users or REQUESTS)  # when each user has its answer
    sent, answered = [], []
    for at in due:
        sent.append(max(at, heapq.heappop(free)))
        begins = UNTIL_MS if situation.frozen and FROM_MS <= sent[-1] < UNTIL_MS else sent[-1]
        answered.append(begins + takes_ms)
        heapq.heappush(free, answered[-1])
    about = {
        "stage": situation.stage,
        "scenario": situation.scenario,
        "loop": Loop.CLOSED if users else Loop.OPEN,
        "round": number,
    }
    frozen = [FROM_MS, UNTIL_MS] if situation.frozen else []
    return TimedRun(**about, verdict="ADMITTED", due_ms=due, sent_ms=sent, answered_ms=answered, frozen_ms=frozen)


def all_rounds() -> list[TimedRun]:
    """Return two rounds of all situations, by both loops."""
    loops = [(situation, users) for situation in SITUATIONS for users in (None, 4)]
    return [made(users, 10, situation, number) for number in (1, 2) for situation, users in loops]


def test_open_loop_counts_each_request():
    """A hundred requests are due in the frozen second: they wait 1000 ms, 990 ms, and so on to 10 ms."""
    waits = made(None).since_due_ms

    assert waits == [0] * 100 + list(range(1000, 0, -10)) + [0] * 100
    assert [quantile(waits, share) for share in (0.5, 0.75, 0.9, 0.95, 1)] == [0, 250, 700, 850, 1000]
    assert longer_than(waits, 200) == 80


@pytest.mark.parametrize("users", [1, 4])
def test_closed_loop_counts_each_user(users):
    """Counted from the sending, the frozen second is there once for each user, and p95 does not see it."""
    run = made(users)

    assert [wait for wait in run.since_sent_ms if wait] == [1000 - EVERY_MS * place for place in range(users)]
    assert quantile(run.since_sent_ms, 0.95) == 0
    assert run.since_due_ms == made(None).since_due_ms  # the time when a request was due makes up for it


def test_quantile_is_a_wait_that_occurred():
    """The quantile of a few waits is one of them."""
    assert [quantile([3, 1, 2, 4], share) for share in (0.01, 0.25, 0.26, 0.5, 0.76, 1)] == [1, 1, 2, 2, 4, 4]


def test_times_come_from_the_run(tmp_path):
    """Requests are in the order in which they were due; the freeze is in the same time."""
    recorder = Recorder(tmp_path / "requests.jsonl")
    for name, due, sent, answered in (("r1", 5, 9, 12), ("r0", 2, 2, 14)):
        times = (at * 1_000_000 for at in (due, sent, answered))
        recorder.record(Request(name, *times, Outcome.ACKNOWLEDGED, 200, "replica-1", 1))
    fault = FaultRecord(
        "freeze-1", "replica-1", 7, "r0", 3_000_000, kind="freeze", effect=Effect.PROCESS_STOPS, recovered_ns=13_000_000
    )
    (tmp_path / "faults.jsonl").write_bytes(msgspec.json.encode(fault) + b"\n")

    run = omission.timed(tmp_path, "ADMITTED", LUA, Loop.CLOSED, 1)

    assert (run.due_ms, run.sent_ms, run.answered_ms, run.frozen_ms) == ([0, 3], [0, 7], [12, 10], [1, 11])
    assert (run.since_due_ms, run.since_sent_ms) == ([12, 7], [12, 3])


@every("situation", SITUATIONS)
@every("loop", Loop)
def test_a_measured_run_makes_sense(situation, loop):
    """Every run of the measurement is one that ``lab run`` accepts. A holder is frozen for three of its TTLs."""
    name, _, stage, *words = situation.words(loop, seed=7)
    given = {flag[2:].replace("-", "_"): int(value) for flag, value in zip(words[::2], words[1::2], strict=True)}

    fitted = override(reader.load(name), find_stage(stage), given)

    assert (fitted.seed, fitted.requests, fitted.locust_users) == (
        7,
        omission.REQUESTS,
        omission.USERS if loop is Loop.CLOSED else 1,
    )
    assert (fitted.work_ms, fitted.ttl_ms) == (omission.WORK_MS, reader.load(str(omission.FROZEN_SECOND)).ttl_ms)


def test_ratios_of_both_loops():
    """The open loop's p95 is 860 ms, the closed loop's 10 ms; and where nothing is frozen, both are 10 ms."""
    found = {one.name: one for one in bench.figures(all_rounds())}

    assert found["omission lua frozen_holder hidden"].value == pytest.approx(86)
    assert found["omission lua rush hidden"].value == pytest.approx(1)
    assert 1 <= found["omission lua frozen_holder known"].value < 2
    assert all(one.held for one in found.values())


@pytest.mark.whole
def test_report_names_what_was_found(tmp_path):
    """The title has the numbers, the table has each situation, and the picture is drawn again to the same from its file."""
    paths = omission_report.write(made_now(OmissionBenchmark, load_average=0.25, points=all_rounds()), tmp_path)

    found = omission_report.load(tmp_path)
    table = (tmp_path / "omission.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    assert [path.name for path in paths] == ["omission.json", "omission.md", "omission.svg", "omission-dark.svg"]
    assert omission_report.finding(found.points) == (
        "The closed loop reports a p95 of 10 ms; the open loop waits 860 ms, 86 times as long"
    )
    assert "the load average was 0.25 before" in table
    assert rows[0][:5] == ["`lua frozen_holder`", "open loop, since it was due", "10", "710", "860"]
    assert rows[1][:5] == ["`lua frozen_holder`", "closed loop, since it was sent", "10", "10", "10"]
    assert len(rows) == 3 * len(SITUATIONS)
    assert UNFROZEN.name in rows[-1][0]
    picture = paths[2].read_bytes()
    assert omission_report.draw_one(found, tmp_path, "").read_bytes() == picture != paths[3].read_bytes()
    assert b"81 over 200 ms" in picture
