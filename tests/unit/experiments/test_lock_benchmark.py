"""Locks alone: overtakes are counted, and the table shows on what they were measured."""

from __future__ import annotations

import pytest

from app.locks import stages
from lab.experiments import lock_benchmark_report
from lab.experiments.benchmarks import locks
from lab.experiments.lock_benchmark import ASK, LockMeasurement, median_of, overtakes
from tests.every import every


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
    assert [row.split("|")[-2].strip() for row in rows] == ["100 000 a second, under 1 ms", "", "", "5 000 a second, 5 to 20 ms"]
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
