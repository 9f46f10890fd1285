"""The main job on the real servers: 5000 requests, 100 users, three replicas, every stage."""

from __future__ import annotations

import json

import pytest

from app.lock import Claim
from app.locks import stages
from lab.evidence.history import History
from tests.command import lab, run

SAFE = ("incr", "setnx", "ttl", "uuid", "lua", "reentrant", "watchdog")
AS_SAFE = ("setnx_expire", "watchdog_abort", "pubsub", "queued", "fencing", "bucketed")
REDLOCKS = ("redlock_no_jitter", "redlock")
SLOWER = ("mysql_insert", "mysql_for_update", "mysql_version")
SLOWER += ("zookeeper", "zookeeper_fenced", "etcd", "etcd_fenced")


def losses(folder) -> list[dict]:
    return [json.loads(line) for line in (folder / "losses.jsonl").read_text(encoding="utf-8").splitlines()]


def assert_the_books_agree(done) -> None:
    """Both ways of counting, and each lost increment with the write that destroyed it."""
    verdict = done.verdict

    assert verdict["lost"] == verdict["writes"] - verdict["final"]
    assert verdict["lost"] == sum(loss["destroyed"] for loss in losses(done.folder))
    assert all(loss["culprit"]["request"] for loss in losses(done.folder))


@pytest.mark.parametrize(
    ("stage", "requests"),
    [(stage, 5000) for stage in SAFE]
    + [(stage, 2000) for stage in AS_SAFE]
    + [(stage, 1000) for stage in SLOWER]
    + [(stage, 500) for stage in REDLOCKS],
)
def test_a_shared_lock_loses_nothing(stage, requests, tmp_path):
    done = run("rush", stage, tmp_path, requests=requests, wait_ms=60_000)  # who polls may be overtaken for long

    verdict = done.verdict

    assert (done.status, verdict["verdict"]) == (0, "KEPT")
    assert (verdict["acknowledged"], verdict["final"]) == (requests, requests)
    assert (verdict["lost"], verdict["duplicated"], verdict["failed"], verdict["unknown"]) == (0, 0, 0, 0)
    assert json.loads(done.out) == verdict
    assert_the_books_agree(done)


def test_every_stage_that_claims_exclusion_is_put_to_the_rush():
    claiming = {name for name, stage in stages().items() if Claim.exclusive in stage.claims}

    assert claiming == {*SAFE, *AS_SAFE, *SLOWER, *REDLOCKS}


def test_a_statement_that_succeeds_for_everybody_is_no_lock(tmp_path):
    done = run("rush", "mysql_upsert", tmp_path, requests=1000)

    mechanisms = {one["mechanism"] for one in done.verdict["violations"]}

    assert (done.status, done.verdict["verdict"]) == (0, "ADMITTED")
    assert "went in though the store had said no" in mechanisms
    assert "unexplained" not in mechanisms
    assert_the_books_agree(done)


@pytest.mark.parametrize(
    ("scenario", "stage", "least_lost"), [("rush", "none", 2500), ("rush", "local", 1), ("one_replica", "none", 1)]
)
def test_no_lock_and_a_lock_of_one_process_lose(scenario, stage, least_lost, tmp_path):
    done = run(scenario, stage, tmp_path)

    verdict = done.verdict

    assert (done.status, verdict["verdict"]) == (0, "ADMITTED")
    assert verdict["acknowledged"] == 5000
    assert verdict["lost"] > least_lost - 1
    assert_the_books_agree(done)
    again = lab("check", str(done.folder), "--json", cwd=tmp_path)
    assert (again.status, json.loads(again.out)) == (0, verdict)


def test_a_local_lock_is_enough_in_one_process(tmp_path):
    done = run("one_replica", "local", tmp_path, wait_ms=60_000)

    assert (done.status, done.verdict["verdict"]) == (0, "KEPT")
    assert (done.verdict["lost"], done.verdict["final"]) == (0, 5000)


@pytest.mark.parametrize(
    ("stage", "verdict"),
    [
        ("setnx", "KEPT"),
        ("ttl", "ADMITTED"),
        ("uuid", "ADMITTED"),
        ("lua", "ADMITTED"),
        ("reentrant", "ADMITTED"),
        ("watchdog", "KEPT"),
    ],
)
def test_work_that_outlasts_the_ttl_needs_renewal_or_no_ttl(stage, verdict, tmp_path):
    done = run("work_outlasts_ttl", stage, tmp_path)

    assert (done.status, done.verdict["verdict"]) == (0, verdict)
    assert_the_books_agree(done)


@pytest.mark.parametrize(
    ("stage", "verdict"), [("ttl", "ADMITTED"), ("uuid", "KEPT"), ("lua", "KEPT"), ("reentrant", "KEPT"), ("watchdog", "KEPT")]
)
def test_a_late_release_deletes_anothers_lock_unless_it_looks(stage, verdict, tmp_path):
    done = run("slow_holder", stage, tmp_path)

    assert (done.status, done.verdict["verdict"]) == (0, verdict)
    assert ("deleted by another" in [one["mechanism"] for one in done.verdict["violations"]]) == (stage == "ttl")


def test_having_to_try_again_counts_once(tmp_path):
    assert run("retry_counts_twice", "lua", tmp_path).verdict["verdict"] == "KEPT"


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("requests", [1, 2, 5000, 5001])
def test_exactly_as_many_requests_are_sent_as_were_asked_for(requests, processes, tmp_path):
    if processes > requests:
        assert run("rush", "incr", tmp_path, requests=requests, processes=processes).status == 2
        return
    done = run("rush", "incr", tmp_path, requests=requests, processes=processes)

    records = list(History(done.folder).requests())

    assert len(records) == len({record.id for record in records}) == requests
    assert done.verdict["final"] == requests


def test_at_a_rate_requests_arrive_whatever_the_answers_do(tmp_path):
    """Arrivals outpace a lock that works 20 ms each: an open loop keeps sending, so requests overlap by more than any
    closed loop's users would let them, and the intended starts are those of the rate.
    """
    done = run("rush", "lua", tmp_path, requests=300, rate=300, work_ms=20, replicas=2)

    records = sorted(History(done.folder).requests(), key=lambda record: record.start_ns)
    spread_s = (records[-1].intended_ns - records[0].intended_ns) / 1e9

    assert len(records) == 300
    assert 0.5 < spread_s < 2.0
    assert done.verdict["duration_s"] > 3 * spread_s
    assert all(record.intended_ns <= record.start_ns for record in records)
