"""Which claim an event breaks: by the fault that left the lock as it is, and by why a holder is not entitled any more."""

from __future__ import annotations

from app.lock import Claim
from lab.explore.code.program import Task
from lab.explore.decision import SearchOutcome
from lab.explore.search.event import Budget
from lab.explore.search.ghosts import ASKS, RELEASES, WORKS, About, Hold, Left, Owner, beginning
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.search.rules_of_faults import attributed
from lab.explore.search.search import Broken, Searched
from tests.every import every

TTL_MS = 3000


class NobodyFree:
    """A store whose lock is taken, whatever its state."""

    def free(self, lock, now_ms):
        return frozenset()

    def free_at_ms(self, lock, now_ms, key):
        return None


ABOUT = About(Task(TTL_MS), TTL_MS, oracle=NobodyFree(), known=frozenset({"L"}))
LEFT_BY = {
    (Left("crashes", ASKS),): Claim.acquires_atomically,
    (Left("crashes", WORKS),): Claim.freed_after_crash,
    (Left("lost_replies", ASKS),): Claim.acquires_atomically,
    (Left("lost_replies", RELEASES),): Claim.freed_after_a_lost_release,
    (Left("lost_replies", RELEASES, in_vain=True),): Claim.freed_after_a_failed_release,
    (Left("resends", ASKS),): Claim.survives_a_lost_reply,
    (Left("failures", WORKS),): Claim.freed_after_failure,
    (): Claim.releases_only_its_own,
}


@every("left", LEFT_BY)
def test_a_lock_that_is_left_behind(left):
    """A lock that nobody uses is charged to the fault that hit its owner, and to a release where none did."""
    ghosts = beginning(2).owned_by("L", Owner(0, 0, left))

    claim, limit_ms = attributed(ghosts, ABOUT, "L", Budget())

    assert claim is LEFT_BY[left]
    assert 0 < limit_ms <= TTL_MS + 500


HOLDS = {
    Hold("L", None): Why.ENTITLED,
    Hold("L", 5000): Why.ENTITLED,
    Hold("L", 1000): Why.EXPIRED,
    Hold("L", 1000, paused=True): Why.PAUSED,
    Hold("L", 1000, paused_late=True): Why.PAUSED_LATE,
    Hold("L", 5000, Why.ROBBED): Why.ROBBED,
    Hold("L", 1000, Why.STORE_LOST_IT): Why.STORE_LOST_IT,
}


@every("hold", HOLDS)
def test_why_a_holder_is_not_entitled(hold):
    """The first reason stays; a lease that ends is charged to the last pause."""
    now_ms = 2000

    assert hold.at(now_ms).why is HOLDS[hold]
    assert hold.at(now_ms).is_entitled(now_ms) is (HOLDS[hold] is Why.ENTITLED)


@every(
    "claim, two_inside, served, decides",
    [
        (Claim.releases_only_its_own, False, 1, True),
        (Claim.releases_only_its_own, True, 1, False),  # nobody can say whose lock a release frees
        (Claim.releases_atomically, True, 1, False),
        (Claim.counts_once, True, 1, True),
        (Claim.held_to_the_end, False, 1, True),
        (Claim.held_to_the_end, False, 0, False),  # a lock that never works keeps it by doing nothing
    ],
)
def test_what_a_search_decides(claim, two_inside, served, decides):
    """A search decides a claim only where the thing was at stake."""
    broken = {Claim.exclusive: Broken(Finding(Claim.exclusive, Harm.TWO_HOLDERS), [])} if two_inside else {}

    assert SearchOutcome(Searched(complete=True, served=served, broken=broken)).decides(claim) is decides
