"""The explorer on etcd, ZooKeeper and MariaDB: what it decides of each stage is what the stage's documentation says.

A claim that breaks in a search, and is not among those expected, is an error of the explorer or of the lock. Seconds are
those of a machine with two cores: a pause takes the longest, for then all renewals until the horizon have orders.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import cache
from time import monotonic

import pytest

from app.lock import Claim
from lab.errors import ExitStatus
from lab.explore.code.program import Task
from lab.explore.decision import Explorer
from lab.explore.questions import Question, by_default, single_faults
from lab.explore.search.event import NONE, Budget, short
from lab.explore.server import PREFIX, redis_server
from lab.explore.store.others import NEXT_TO
from lab.scenario.stages import find_stage
from tests.command import warm
from tests.corpus import CORPUS
from tests.sampled import sampled

TTL_MS, WITHIN_S = 3000, 300.0
LATE = {Claim.survives_a_freeze, Claim.survives_a_late_freeze}
FAULTS = [name for name in Budget._fields if name != "restarts"]  # these stores write to disk before they answer
# by stage and fault, the claims that break; none where nothing is said
BREAKS: dict[str, dict[str, set[Claim]]] = {
    "etcd": {"pauses": LATE},
    "etcd_fenced": {},
    "zookeeper": {"pauses": LATE},
    "zookeeper_abort": {"pauses": {Claim.survives_a_late_freeze}},
    "zookeeper_fenced": {},
    "zookeeper_no_recheck": {
        **{fault: {Claim.loses_no_wakeup} for fault in ("none", *FAULTS)},
        "pauses": {Claim.loses_no_wakeup, *LATE},
    },
    "mysql_insert": {
        "crashes": {Claim.freed_after_crash},
        "lost_replies": {Claim.acquires_atomically, Claim.freed_after_a_failed_release},
        "resends": {Claim.survives_a_lost_reply},
    },
    "mysql_upsert": {fault: {Claim.exclusive} for fault in ("none", *FAULTS)},
    "mysql_version": {},
    "mysql_for_update": {},
}
# the ordinary run: each store, and each kind of fault once; the kept decisions of all are compared with the matrix by
# `test_explore_and_matrix.py`
NOW = {
    ("zookeeper", "failures"),
    *(("mysql_insert", fault) for fault in ("crashes", "lost_replies", "resends")),
    ("zookeeper_no_recheck", "none"),
}


@pytest.fixture(scope="module")
def explorer():
    """A function that returns the explorer of a stage. Each store is started once, and what it answered is asked once."""
    with ExitStack() as stack:

        @cache
        def real(store):
            return stack.enter_context(redis_server(store))

        @cache
        def of(name):
            stage = find_stage(name)
            return stack.enter_context(closing(Explorer(stage, real(stage.store))))

        yield of
    assert not NEXT_TO


def answered(explorer, name, budget=NONE, **task):
    answer = explorer(str(name)).answer(Question(Task(TTL_MS, **task), budget), monotonic() + WITHIN_S)
    assert answer.undecided is None, answer.about
    return answer


def cases():
    for name, breaks in BREAKS.items():
        for fault in ("none", *FAULTS):
            marks = () if (name, fault) in NOW else pytest.mark.trial
            yield pytest.param(name, fault, breaks.get(fault, set()), marks=marks, id=f"{name}-{fault}")


@pytest.mark.parametrize(("name", "fault", "breaks"), list(cases()))
def test_what_breaks(name, fault, breaks, explorer):
    """With no fault, and with one of each kind, exactly the expected claims break; and no promise does."""
    found = answered(explorer, name, NONE if fault == "none" else Budget(**{fault: 1})).found

    assert set(found.broken) == breaks
    assert not breaks & find_stage(name).claims
    assert found.schedules > 1
    assert found.served


@pytest.mark.parametrize(
    ("path", "claim", "schedule"),
    sampled(
        [
            ("broken/etcd_own_key_is_enough.py", Claim.exclusive, "AaABbB"),
            ("explored/etcd_watches_from_now.py", Claim.loses_no_wakeup, ""),
            ("explored/zookeeper_own_node_is_enough.py", Claim.exclusive, "A2B2"),
            ("broken/mysql_counts_the_rows_of_the_answer.py", Claim.exclusive, "A2B2"),
        ],
        ["broken/etcd_own_key_is_enough.py", "broken/mysql_counts_the_rows_of_the_answer.py"],
    ),
)
def test_broken_variation(path, claim, schedule, explorer):
    """A variation that breaks a promise without any fault is found, by a shortest schedule."""
    stage = find_stage(str(CORPUS / path))
    broken = answered(explorer, CORPUS / path).found.broken

    assert claim in broken.keys() & stage.claims
    assert schedule in ("", short(broken[claim].events))


@pytest.mark.trial
def test_a_row_that_is_only_read(explorer):
    """A SELECT without FOR UPDATE is no lock, once the row is there: the first request makes it."""
    path = CORPUS / "broken" / "mysql_reads_without_for_update.py"

    assert not answered(explorer, path).found.broken
    assert Claim.exclusive in answered(explorer, path, in_turn=2, nap_ms=700).found.broken


@pytest.mark.parametrize("path", sampled(["kazoo_lock.py", "mysql_get_lock.py", "etcd3gw_lock.py"], ["kazoo_lock.py"]))
def test_lock_of_a_library(path, explorer):
    """A lock of the store's own library is followed as well, and holds."""
    assert not answered(explorer, CORPUS / "sound" / path).found.broken


@pytest.mark.parametrize(
    ("task", "name"),
    [
        pytest.param({"nested": True}, "mysql_for_update", marks=pytest.mark.trial),
        pytest.param({"work_ms": 2000, "wait_ms": 1000}, "mysql_for_update", marks=pytest.mark.trial),
        ({"work_ms": 5000}, "etcd"),
        ({"work_ms": 2000, "wait_ms": 0}, "zookeeper"),
    ],
)
def test_other_tasks(task, name, explorer):
    """A row lock is re-entered; the server ends a wait when the clock says so; a session is kept alive through long work."""
    found = answered(explorer, name, **task).found

    assert not found.broken
    assert bool(found.refused) == ("wait_ms" in task)


def test_replay(tmp_path):
    """A kept schedule runs again on a real server, draws its picture, and leaves no server and no folder behind."""
    picture = tmp_path / "etcd.svg"
    schedule = "AaABbAB3pAt1000bt2000bt3000bB3rAA"

    done = warm("replay", f"etcd:{schedule}", "--out", picture, cwd=tmp_path)

    assert done.status == ExitStatus.GOOD  # the claim is not promised
    assert "One increment is lost" in " ".join(done.out.split())
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_no_restart_without_data():
    """A store that writes to disk before it answers does not lose its data, so no search restarts it without."""
    assert not any(one.budget.restarts for one in by_default(find_stage("zookeeper"), TTL_MS))
    assert any(one.budget.restarts for one in by_default(find_stage("lua"), TTL_MS))
    assert {*single_faults()} >= {Budget(pauses=1), Budget(crashes=1), Budget(lost_replies=1)}
    assert PREFIX.startswith("lab-")
