"""The scenario ``rush`` on real servers.

`lab experiment ladder` runs all stages with 5000 requests; its result is kept in reports/reference.
"""

from __future__ import annotations

import itertools
import json
from time import sleep

from lab.evidence.history import History
from lab.scenario.options import flags
from tests.command import Started, assert_counts_agree, run, wait_for, warm

REQUESTS = 700  # about three times as many hand-overs as the scenario demands


def test_a_shared_lock_loses_nothing(tmp_path):
    """A lock that wakes its waiters by a message loses nothing. `test_interrupts.py` has one that polls, the ladder all."""
    done = run("rush", "queued", tmp_path, requests=REQUESTS, wait_ms=60_000)

    verdict = done.verdict

    assert (done.status, verdict["verdict"]) == (0, "KEPT")
    assert (verdict["acknowledged"], verdict["final"]) == (REQUESTS, REQUESTS)
    assert (verdict["lost"], verdict["duplicated"], verdict["failed"], verdict["unknown"]) == (0, 0, 0, 0)
    assert verdict["violations"] == []
    assert json.loads(done.out) == verdict
    assert_counts_agree(done.folder)


def test_late_worker_of_locust(tmp_path):
    """Locust's workers that stand still for some seconds send the rest afterwards: exactly the given number of requests."""
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
    """At most as many requests are on their way as there are connections.

    The next one starts late, but the requests are still due at the given rate.
    """
    given = {"requests": 100, "rate": 300, "connections": 4, "work_ms": 20, "replicas": 2}
    # without ``run``: four connections seldom change the replica, so the verdict is VOID, and the run would be made twice
    done = warm("run", "rush", "--stage", "lua", "--json", "--no-draw", *flags(given), cwd=tmp_path)

    records = sorted(History(done.folder).requests(), key=lambda record: record.start_ns)
    due_ns = sorted(record.intended_ns for record in records)
    steps = sorted(step for record in records for step in ((record.start_ns, 1), (record.end_ns, -1)))

    assert len(records) == 100
    assert 0.2 < (due_ns[-1] - due_ns[0]) / 1e9 < 0.75  # 100 at 300 a second
    assert max(itertools.accumulate(change for _, change in steps)) == 4
    assert records[-1].start_ns - records[-1].intended_ns > 500_000_000  # 100 times 20 ms of work, and 0.3 s of arrivals


def test_users_think_and_start_one_after_the_other(tmp_path):
    """Users start at their rate and pause between two requests, and the record has both numbers."""
    done = run("rush", "incr", tmp_path, requests=90, users=30, think_ms=700, spawn_rate=10)

    starts = sorted(record.start_ns / 1e9 for record in History(done.folder).requests())
    scenario = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["scenario"]

    assert len(starts) == 90
    assert starts[10] - starts[0] > 0.6  # ten users in the first second, and none comes again before its pause is over
    assert min(later - start for start, later in zip(starts, starts[30:], strict=False)) > 0.6
    assert (scenario["think_ms"], scenario["spawn_rate"]) == (700, 10)
