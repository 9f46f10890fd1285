"""What a measurement of the lab's own costs is worth: intervals, interleaving, and runs and histories that are what they say."""

import json
from collections.abc import Iterator
from types import SimpleNamespace

import psutil
import pytest

from app.locks import stages
from lab.errors import BadInput, MissingProgram, NothingShown
from lab.experiments import benchmark, growth, lock_benchmark_report
from lab.experiments.benchmark import Measured, RatioLimit, pairwise
from lab.experiments.benchmarks import asking, locks, waits
from lab.experiments.benchmarks import lesson as bench
from lab.experiments.benchmarks.lesson import RunEnd
from lab.experiments.lock_benchmark import ASK, LockMeasurement, median_of, overtakes
from lab.scenario import reader
from lab.scenario.scenario import override
from tests.every import every


def test_pairs_are_interleaved():
    """Pairs are interleaved, and the first of a pair alternates."""
    order: list[str] = []

    def called(name: str, value: float) -> float:
        order.append(name)
        return value

    pairs = list(pairwise(3, lambda: called("one", 1.0), lambda: called("other", 2.0)))

    assert order == ["one", "other", "other", "one", "one", "other"]
    assert pairs == [(1.0, 2.0)] * 3  # in either order


def test_promise_at_its_limit():
    """A promise is kept at its limit and broken beyond it."""
    assert RatioLimit(at_most=1.0).holds(1.0)
    assert not RatioLimit(at_most=1.0).holds(1.01)
    assert not RatioLimit(at_least=1.0).holds(0.99)


def measured(
    name: str = "a", low: float | None = None, high: float | None = None, what: str = "", limit: float = 1.0
) -> Measured:
    about = {"unit": "", "value": 0.85, "low": low, "high": high, "promise": RatioLimit(at_most=limit), "samples": []}
    return Measured(name=name, what=what, **about)


@pytest.mark.parametrize(("low", "high", "within"), [(0.8, 0.9, False), (0.8, 1.1, True), (None, None, False)])
def test_within_noise(low, high, within):
    """A promise that lies within the interval is marked: another run may judge it differently."""
    one = measured(low=low, high=high)

    assert ("within the noise" in benchmark.entry(one)) == within
    assert benchmark.entry(one).splitlines()[0].split()[-1] == "yes"


def test_eighty_columns():
    """The heading, the numbers and the words of a figure fit 80 columns, and no word is broken."""
    long = "how long a run of the lab takes as a share of what the same run takes " * 4
    text = benchmark.entry(measured("waits queued throughput", 0.851, 0.859, long))

    assert max(map(len, [*text.splitlines(), benchmark.HEADING])) <= 80
    assert long.split() == text.split()[-len(long.split()) :]


@pytest.mark.parametrize(("limit", "status"), [(1.0, 4), (0.5, 1)])
def test_missing_program(limit, status, monkeypatch, tmp_path, capsys):
    """A bench whose program is missing is named with its reason; the others are measured. A broken promise counts more.

    Where nothing was measured, no file is kept.
    """

    class Good:
        def measure(self, pairs: int) -> Iterator[Measured]:
            yield measured("good", limit=limit)

    class NeedsWrk:
        def measure(self, pairs: int) -> Iterator[Measured]:
            raise MissingProgram("wrk is not installed. Install it with: apt-get install wrk")
            yield

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lab.experiments.benchmark.benches", lambda: {"needs-wrk": NeedsWrk(), "good": Good()})

    assert benchmark.measure([], 3) == status

    out = capsys.readouterr().out
    assert "needs-wrk was not measured: wrk is not installed" in out
    assert "Install it" in out
    assert "\ngood " in out
    (kept,) = (tmp_path / "reports").glob("bench-*.json")
    assert [one["name"] for one in json.loads(kept.read_text(encoding="utf-8"))["points"]] == ["good"]
    text = kept.read_bytes()

    assert benchmark.measure(["needs-wrk"], 3) == 4
    assert [one.read_bytes() for one in (tmp_path / "reports").glob("bench-*.json")] == [
        text
    ]  # nothing was measured, nothing kept


def test_unknown_benchmark_is_refused():
    """An unknown benchmark is refused with the nearest name."""
    with pytest.raises(BadInput, match="Did you mean 'explorer'"):
        benchmark.measure(["explorr"], 1)


def one(stage: str, store: str, clients: int = 1, per_s: float = 1000) -> LockMeasurement:
    about = {"work_ms": 0, "cycles": 1000, "p50_ms": 0.25, "p99_ms": 0.5, "longest_wait_ms": 1, "overtaken": 0, "commands": 2}
    about |= {"least_per_s": per_s, "most_per_s": per_s}
    return LockMeasurement(stage=stage, store=store, clients=clients, one_key=clients > 1, per_s=per_s, **about)


@every(
    "cycles, pairs",
    [
        ([], 0),
        ([(0, 1, 2), (1, 3, 4)], 0),  # in the order of asking
        ([(0, 5, 6), (1, 3, 4)], 1),
        ([(0, 9, 9), (1, 3, 4), (2, 5, 6)], 2),
        ([(0, 9, 9), (1, 6, 7), (2, 5, 6)], 3),
    ],
)
def test_overtakes_are_counted(cycles, pairs):
    """An overtake is a pair of requests of which the later got the lock first."""
    assert overtakes(cycles) == pairs


@pytest.mark.whole
def test_table_of_locks(tmp_path):
    """The table names the machine, and shows the documents' claim next to a lock alone."""
    lock_benchmark_report.write(
        [one("lua", "redis"), one("lua", "redis", 16), one("one round trip to redis", "redis", per_s=9000), one("etcd", "etcd")],
        1.0,
        tmp_path,
    )

    text = (tmp_path / "locks.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| *"))]

    assert lock_benchmark_report.markdown(lock_benchmark_report.load(tmp_path)) == text
    assert "Python 3" in text.splitlines()[0]
    assert [row.split("|")[-2].strip() for row in rows] == [
        "100\u2009000 a second, under 1 ms",
        "",
        "",
        "5000 a second, 5 to 20 ms",
    ]
    assert (tmp_path / "locks.svg").read_text(encoding="utf-8").count("claimed by document 4") >= 1


def test_median_of_rounds():
    """One round on a machine that was fast or slow for a second does not decide: the median does, and the range is kept."""
    found = median_of([one("lua", "redis", per_s=speed) for speed in (900, 7000, 1000)])

    assert (found.per_s, found.least_per_s, found.most_per_s) == (1000, 900, 7000)


def test_every_store_has_a_round_trip():
    """Every store that a lock asks has a measured round trip."""
    assert {stage.store for stage in stages().values() if stage.store} == set(ASK)


def test_lock_without_acquire_is_left_out():
    """A lock that acquires nothing is not measured."""
    assert "mysql_version" not in {stage.name for stage in locks._locks()}


USUAL, OTHER = RunEnd("ADMITTED", "no_lock", "read wrote"), RunEnd("KEPT", "", "in_turn")


@pytest.fixture
def first_runs(monkeypatch):
    """How the runs of the first step end, in turn, where they do not end as usual; None for a run without a verdict."""
    endings: list[RunEnd | None] = []
    left: dict[str, RunEnd] = {}

    def run(words, cwd):
        ending = endings.pop() if endings and words[:3] == ["rush", "--stage", "none"] else USUAL
        if ending is None:
            raise NothingShown("it was ended")
        name = str(len(left))
        left[name] = ending
        return SimpleNamespace(run=name)

    monkeypatch.setattr(bench, "child_run", run)
    monkeypatch.setattr(bench, "ending_of", lambda folder: left[folder.name])
    monkeypatch.setattr(bench, "JOBS", 1)
    return endings


def test_runs_that_end_otherwise(first_runs):
    """A run that ends otherwise, or without a verdict, is counted, and its ending is named."""
    first_runs += [OTHER, None]

    first, *others = bench.measure(4)

    assert len([first, *others]) == len(bench.runs())
    assert (first.value, first.samples, first.held) == (0.5, [0, 0, 1, 1], False)
    assert first.seen["verdict"] == "ADMITTED"
    assert "1 of them: KEPT · in_turn" in first.remark
    assert "1 of them: VOID · it was ended" in first.remark
    assert all(one.held for one in others)


def test_interrupt_keeps_whole_rounds(first_runs, monkeypatch):
    """An interrupt keeps the rounds in which each run of the lesson was made, and nothing where there is none."""
    for made, rounds in ((2 * len(bench.runs()) + 3, 2), (3, 0)):
        ends = iter(range(made))
        monkeypatch.setattr(bench, "ending_of", lambda folder, ends=ends: USUAL if next(ends, None) is not None else interrupt())
        found = []
        with pytest.raises(KeyboardInterrupt):
            found.extend(one for one in bench.measure(4) if found.append(one))

        assert [len(one.samples) for one in found] == [rounds] * len(bench.runs()) * bool(rounds)


def interrupt():
    raise KeyboardInterrupt


def test_plan_keeps_the_limit():
    """No run sends more than is allowed, and every store has a lock in the plan."""
    planned = list(growth.plan(1000))

    assert {options["requests"] for *_, options in planned} == {1000}
    assert max(value for varied, value, *_ in planned if varied == "users") <= 1000
    assert {stages()[stage].store for varied, _, stage, _ in planned if varied == "store"} >= {
        "redis",
        "mysql",
        "zookeeper",
        "etcd",
    }
    assert max(options["requests"] for *_, options in growth.plan(500_000)) == 500_000


class Ending:
    """A process between its last instruction and its end: its command line is gone, and it is not yet a zombie."""

    pid = 1

    def cmdline(self):
        return []

    def cwd(self):
        return "/"


def test_ending_process_belongs_to_no_part():
    """The cost of a process that is ending is not added to another part."""
    with pytest.raises(psutil.ZombieProcess):
        growth._part(Ending())


def test_each_try_asks_for_a_key_of_its_own():
    """A key that is taken would be no vote."""
    asked = []

    def ask(*command):
        asked.append(command)
        return ["OK", "OK", "OK", TimeoutError(), TimeoutError()]

    assert asking.tries_s(ask, tries=4) < 1
    assert len({key for _, key, *_ in asked}) == len(asked) == 5  # the first makes the connections


def test_a_try_without_a_majority_is_no_measurement():
    """The time of a try that failed means nothing."""
    with pytest.raises(NothingShown, match="no majority"):
        asking.tries_s(lambda *command: ["OK", "OK", None, None, None], tries=1)


RUNS = [("rush", name) for name in (*waits.STAGES, "redlock", "redlock_cohort")] + [
    (waits.CRASH, name) for name in ("fair", "pubsub")
]


@every("name, stage", RUNS)
def test_a_measured_run_makes_sense(name, stage):
    """Every run of the measurement is one that ``lab run`` accepts."""
    fitted = override(reader.load(name), stages()[stage], {"requests": waits.REQUESTS, "users": 100})

    assert fitted.requests == waits.REQUESTS
