"""The main job on the real servers, for every stage: 100 users, three replicas.

`lab ladder` runs all stages with 5000 requests; its result is kept in reports/reference.
"""

from __future__ import annotations

import itertools
import json
from time import sleep

import pytest

from app.lock import Claim
from app.locks import stages
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from tests.command import Started, assert_counts_agree, run, wait_for
from tests.sampled import sampled

SHELF = {  # the waiters of some may sleep on: then it is chance how many are served
    name: stage for name, stage in stages().items() if Claim.exclusive in stage.claims and not stage.waiters_may_sleep_on
}
IN_SHORT = ("setnx_finally", "idempotent", "watchdog_once", "watchdog_cancelled")  # one line differs from another stage
SELDOM_HANDED_OVER = ("incr", "bucketed", "mysql_version")
COHORTS = ("cohort", "redlock_cohort")  # one hand-over in seventeen is between replicas
# but for lua, about three times as many hand-overs between replicas as the scenario demands
REQUESTS = {name: 700 if stage.store == "redis" else 500 for name, stage in SHELF.items()} | {"lua": 1500}
REQUESTS |= dict.fromkeys(IN_SHORT, 500) | dict.fromkeys(SELDOM_HANDED_OVER, 1000) | dict.fromkeys(COHORTS, 3000)
# A message, a row; `test_interrupts.py` has one that polls. Of the others, `tests/servers/test_locks.py` tries each on its
# store, the explorer has decided the code as it is, and the ladder has a run.
LIVE = {"queued", "mysql_for_update"}


@pytest.mark.parametrize("stage", sampled(REQUESTS, LIVE))
def test_a_shared_lock_loses_nothing(stage, tmp_path):
    requests = REQUESTS[stage]
    # who polls may be overtaken for long; among many who split the votes, on a busy machine, for longer than any wait
    users = {"users": 30} if SHELF[stage].store == "redis_nodes" else {}
    done = run("rush", stage, tmp_path, requests=requests, wait_ms=60_000, **users)

    verdict = done.verdict

    assert (done.status, verdict["verdict"]) == (0, "KEPT")
    assert (verdict["acknowledged"], verdict["final"]) == (requests, requests)
    assert (verdict["lost"], verdict["duplicated"], verdict["failed"], verdict["unknown"]) == (0, 0, 0, 0)
    assert verdict["violations"] == []
    assert json.loads(done.out) == verdict
    assert_counts_agree(done.folder)


def test_upsert_is_no_lock(tmp_path):
    """A statement that succeeds for every request is no lock."""
    done = run("rush", "mysql_upsert", tmp_path, requests=300, users=30)

    mechanisms = {one["mechanism"] for one in done.verdict["violations"]}

    assert (done.status, done.verdict["verdict"]) == (0, "ADMITTED")
    assert Mechanism.ENTERED_ALTHOUGH_REFUSED in mechanisms
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


def test_arrivals_keep_the_rate(tmp_path):
    """Arrivals outpace a lock that works 30 ms each: an open loop keeps sending, so requests overlap by more than any
    closed loop's users would let them, and the intended starts are those of the rate.
    """
    done = run("rush", "lua", tmp_path, requests=100, rate=150, work_ms=30, retry_ms=100, replicas=2)

    records = sorted(History(done.folder).requests(), key=lambda record: record.start_ns)
    spread_s = (records[-1].intended_ns - records[0].intended_ns) / 1e9

    assert len(records) == 100
    assert 0.4 < spread_s < 1.5
    assert done.verdict["duration_s"] > 3 * spread_s
    assert all(record.intended_ns <= record.start_ns for record in records)


def test_connections_limit_what_is_on_its_way(tmp_path):
    """Users that share the arrivals send no more than one request each: the next is late, and the schedule does not wait."""
    done = run("rush", "lua", tmp_path, requests=100, rate=300, connections=4, work_ms=20, replicas=2)

    records = sorted(History(done.folder).requests(), key=lambda record: record.start_ns)
    steps = sorted(step for record in records for step in ((record.start_ns, 1), (record.end_ns, -1)))

    assert len(records) == 100
    assert max(itertools.accumulate(change for _, change in steps)) == 4
    assert records[-1].start_ns - records[-1].intended_ns > 500_000_000  # 100 times 20 ms of work, and 0.3 s of arrivals
