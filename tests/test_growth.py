"""What a run costs as it grows: each part's share is that part's."""

from __future__ import annotations

import psutil
import pytest

from app.locks import stages
from lab.experiments import growth
from tests.real import lab


def test_no_run_sends_more_than_was_allowed_and_every_store_has_its_lock():
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


@pytest.mark.real
def test_each_part_of_a_run_is_seen_with_its_time_and_memory(tmp_path):
    planned = [("replicas", 2, "incr", {"replicas": 2, "requests": 1500}), ("store", 0, "lua", {"requests": 1500})]

    growth.measure(planned, "lab growth", tmp_path / "out", lambda point: None)

    alone, locked = growth.load(tmp_path / "out").points
    assert (alone.verdict, locked.verdict) == ("KEPT", "KEPT")
    assert set(alone.peak_mib) == set(growth.PARTS) - {"lock's store"}
    assert set(locked.peak_mib) == set(growth.PARTS)
    assert all(mib > 0.5 for mib in locked.peak_mib.values())
    assert locked.cpu_ms["locust"] > 0
    assert locked.cpu_ms["replicas"] > locked.cpu_ms["lock's store"] > 0  # Python, against Redis
    assert 0 < locked.folder_mib < 20
    assert min(locked.judging_s, locked.drawing_s, locked.judging_mib, locked.drawing_mib) > 0


@pytest.mark.real
def test_a_run_that_fails_is_told_with_its_last_words(tmp_path):
    done = lab("growth", "--most-requests", "50", "--out", "out", cwd=tmp_path)

    assert done.status == 3
    assert "users" in done.err


class Ending:
    """A process between its last instruction and its end: its command line is gone, and it is not yet a zombie."""

    pid = 1

    def cmdline(self):
        return []

    def cwd(self):
        return "/"


def test_a_process_that_is_ending_is_booked_on_nobody_else():
    with pytest.raises(psutil.ZombieProcess):
        growth._part(Ending())
