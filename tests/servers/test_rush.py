"""The main job on the real servers, for every stage: 100 users, three replicas.

`lab experiment ladder` runs all stages with 5000 requests; its result is kept in reports/reference.
"""

from __future__ import annotations

import itertools
import json
from time import sleep

import pytest

from lab.evidence.history import History
from tests.command import Started, assert_counts_agree, run, wait_for

# A message, a row; `test_interrupts.py` has one that polls. Of the others, `tests/servers/test_locks.py` tries each on its
# store, the explorer has decided the code as it is, and the ladder has a run; `make matrix` has the rush of each.
REQUESTS = {"queued": 700, "mysql_for_update": 500}  # about three times as many hand-overs as the scenario demands


@pytest.mark.parametrize("stage", REQUESTS)
def test_a_shared_lock_loses_nothing(stage, tmp_path):
    requests = REQUESTS[stage]
    done = run("rush", stage, tmp_path, requests=requests, wait_ms=60_000)  # who polls may be overtaken for long

    verdict = done.verdict

    assert (done.status, verdict["verdict"]) == (0, "KEPT")
    assert (verdict["acknowledged"], verdict["final"]) == (requests, requests)
    assert (verdict["lost"], verdict["duplicated"], verdict["failed"], verdict["unknown"]) == (0, 0, 0, 0)
    assert verdict["violations"] == []
    assert json.loads(done.out) == verdict
    assert_counts_agree(done.folder)


def test_late_worker_of_locust(tmp_path):
    """Workers of Locust that a busy machine stops for some seconds send the rest when they go on: exactly what was asked for."""
    one = Started(
        tmp_path, "run", "rush", "--stage", "incr", "--requests", "300", "--rate", "60", "--processes", "2", "--no-draw"
    )
    wait_for(lambda: one.requests_done() > 20)
    locust = one.named("-m locust")
    workers = [process for process in locust if process.parent() in locust]

    for process in workers:
        process.suspend()
    sleep(5)
    for process in workers:
        process.resume()

    assert len(workers) == 2
    done = one.end()
    records = list(History(done.folder).requests())
    assert len(records) == len({record.id for record in records}) == done.verdict["final"] == 300


def test_connections_limit_what_is_on_its_way(tmp_path):
    """Users that share the arrivals send no more than one request each: the next is late, and the schedule keeps its rate."""
    done = run("rush", "lua", tmp_path, requests=100, rate=300, connections=4, work_ms=20, replicas=2)

    records = sorted(History(done.folder).requests(), key=lambda record: record.start_ns)
    due_ns = sorted(record.intended_ns for record in records)
    steps = sorted(step for record in records for step in ((record.start_ns, 1), (record.end_ns, -1)))

    assert len(records) == 100
    assert 0.2 < (due_ns[-1] - due_ns[0]) / 1e9 < 0.75  # 100 at 300 a second
    assert max(itertools.accumulate(change for _, change in steps)) == 4
    assert records[-1].start_ns - records[-1].intended_ns > 500_000_000  # 100 times 20 ms of work, and 0.3 s of arrivals
