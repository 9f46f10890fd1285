"""Locks of the corpus on real servers: a sample with each kind of evidence. ``tests/unit/judge`` judges all recorded runs."""

from __future__ import annotations

import pytest

from tests.corpus import trials

LIVE = {
    # grants at the store, for each kind of store
    "broken/no_nx rush",
    "broken/mysql_reads_without_for_update rush",
    "broken/zookeeper_does_not_look_again rush",
    "broken/two_votes_of_five rush",
    # the store's reports of keys, and the leases
    "broken/deletes_without_compare slow_holder",
    # a fault, and a lock that must become free after it
    "broken/gives_no_ttl holder_crash",
    # nested locks, and the answers of requests
    "broken/inner_release_frees nested_contended",
    # the commands of a thread or a client of the lock's own
    "trial/wrong/releases_in_the_background slow_holder",
    "sound/client_of_its_own rush",
    # fences, and hand-overs within a process
    "sound/fences_in_steps frozen_before_write",
    "sound/handed_over_inside one_replica",
}
TRIALS = {one.name: one for one in trials()}


def hold(name, try_lock) -> None:
    """Make the runs of a trial, and compare the judgement with the expected one."""
    one = TRIALS[name]
    judgement, claims, _ = try_lock(one.scenario, str(one.path), one.options, most=one.most, is_settled=one.is_settled)

    one.hold(judgement, claims)


@pytest.mark.parametrize("name", sorted(LIVE))
def test_a_lock_of_the_sample(name, try_lock):
    """A wrong lock is condemned for the right mechanism, and a sound lock of an unusual shape is not accused."""
    hold(name, try_lock)


@pytest.mark.trial
@pytest.mark.parametrize("name", sorted(TRIALS.keys() - LIVE))
def test_a_lock(name, try_lock):
    """The same is true for all other locks of the corpus."""
    hold(name, try_lock)
