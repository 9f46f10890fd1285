"""A scenario can show what its claim says: enough replicas, times far enough apart, and no stage that keeps a claim vacuously."""

import pytest

from app.lock import Claim
from app.locks import stages
from lab.experiments.matrix import expectations, promised
from lab.judge.promises import PATIENCE_MS, PROMISES
from lab.scenario import reader
from tests.builders import MS, found
from tests.cells import CELLS


@pytest.mark.parametrize("name", ["starvation", "convoy", "nested_two_locks"])
def test_several_replicas(name):
    """What a lock promises to all waiters is tested over several replicas, where no queue inside a process can keep it."""
    assert reader.load(name).replicas > 1


def test_every_scenario_is_run():
    """Each scenario is run on real servers, on a stage at least."""
    unknown, lacking = sorted(CELLS.keys() - {*reader.names()}), [name for name in reader.names() if not CELLS.get(name)]

    assert unknown == [], f"tests/cells.py: CELLS has a row for no scenario: {', '.join(unknown)}"
    assert lacking == [], f"tests/cells.py: CELLS lacks a row, with a stage at least, for {', '.join(lacking)}"


def test_long_work_looks_like_a_hang():
    """No stage keeps its lock for work of any length and frees the lock of a thread that hangs."""
    both = [stage.name for stage in stages().values() if {Claim.held_to_the_end, Claim.freed_after_hang} <= stage.claims]
    rows = expectations()
    opposite = {"KEPT": "ADMITTED", "ADMITTED": "KEPT", "": ""}

    assert both == []
    assert all(rows["work_hangs", name] == opposite[rows["work_outlasts_ttl", name]] for name in stages())


def test_times_are_far_apart():
    """A late waiter or a late renewal does not change a verdict: the limit is far from either outcome."""
    fails, hangs = reader.load("work_fails"), reader.load("work_hangs")
    fails_limit_ms, hangs_limit_ms = (PROMISES[one.tests.name].bound.in_ms(one.ttl_ms) for one in (fails, hangs))

    assert 10 * fails.work_ms < fails_limit_ms <= fails.ttl_ms / 2
    assert fails.wait_ms >= 2 * fails.ttl_ms
    assert 2 * hangs.ttl_ms <= hangs_limit_ms
    assert min(hangs.wait_ms, hangs.faults[0].for_ms) >= 2 * hangs_limit_ms


@pytest.mark.parametrize(("waited_ms", "guilty"), [(2 * 300 + PATIENCE_MS - 1, False), (2 * 300 + PATIENCE_MS + 1, True)])
def test_time_of_a_deadlock(made, waited_ms, guilty):
    """The check allows as long as the claim says: twice the TTL and half a second."""
    made.increment("a", 0, 0, at=waited_ms, asked=0, outcome=None)
    made.answer("a", "acknowledged", "replica-1", 0, (waited_ms + 3) * MS, 1)

    claims = [claim for claim, _ in found(made.analyse(final=1, ttl_ms=300, nested="crossed"))]

    assert claims == (["breaks_deadlock"] if guilty else [])


def test_expectations_agree_with_claims():
    """What was written down of a stage is that it keeps what it claims, fails where it does not, or that it does not fit."""
    shelf, known = stages(), {name: reader.load(name) for name in reader.names()}

    wrong = [
        (name, stage)
        for (name, stage), verdict in expectations().items()
        if stage not in shelf or name not in known or verdict != promised(known[name], shelf[stage])
    ]

    assert wrong == []
