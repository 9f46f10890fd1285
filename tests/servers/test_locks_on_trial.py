"""Locks on trial, live: a sample with each kind of evidence. All recorded runs are judged by ``tests/unit/judge``."""

from __future__ import annotations

import pytest

from tests.corpus import trials

LIVE = {
    # what a run records of it: grants at the store, of each kind of store
    "broken/no_nx rush",
    "broken/mysql_reads_without_for_update rush",
    "broken/zookeeper_does_not_look_again rush",
    "broken/two_votes_of_five rush",
    # the store's reports of keys, and leases
    "broken/deletes_without_compare slow_holder",
    # a fault, and what becomes free after it
    "broken/gives_no_ttl holder_crash",
    # nested locks, and the answers of requests
    "broken/inner_release_frees nested_contended",
    # what a client or a thread of its own sends
    "trial/wrong/releases_in_the_background slow_holder",
    "sound/client_of_its_own rush",
    # fences, and hand-overs within a process
    "sound/fences_in_steps frozen_before_write",
    "sound/handed_over_inside one_replica",
}
TRIALS = {one.name: one for one in trials()}


def hold(name, try_lock) -> None:
    """Make the runs of a trial, and compare with what is expected."""
    one = TRIALS[name]
    judgement, claims, _ = try_lock(one.scenario, str(one.path), one.options, most=one.most, is_settled=one.is_settled)

    one.hold(judgement, claims)


@pytest.mark.parametrize("name", sorted(LIVE))
def test_a_lock_of_the_sample(name, try_lock):
    """A wrong lock is condemned by the right mechanism, and a sound one in an unusual shape is not accused."""
    hold(name, try_lock)


@pytest.mark.trial
@pytest.mark.parametrize("name", sorted(TRIALS.keys() - LIVE))
def test_a_lock(name, try_lock):
    """So are all the others."""
    hold(name, try_lock)
