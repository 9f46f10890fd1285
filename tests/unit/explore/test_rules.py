"""Test which claim an event breaks: it follows from the fault before it, and from the reason why a holder lost its right."""

from __future__ import annotations

from types import SimpleNamespace

from app.lock import Claim
from lab.explore.code.operation import Granted
from lab.explore.code.program import Task
from lab.explore.decision import SearchOutcome
from lab.explore.questions import Question
from lab.explore.search.event import NONE, Budget
from lab.explore.search.ghosts import ASKS, RELEASES, WORKS, Actor, Ghosts, Hold, Owner, beginning
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.search.rules import Effects, claim_if_locked, claim_of, end, judge_mark
from lab.explore.search.search import Broken, Searched
from lab.explore.search.state import RUNS, State
from tests.every import every

TTL_MS = 3000


class NeverFree:
    """A store whose lock is taken, whatever its state."""

    def free(self, lock, now_ms):
        return frozenset()

    def free_at_ms(self, lock, now_ms, key):
        return None


TASK = Task(TTL_MS)


def world(task=TASK, known=("L",), waiting=()):
    """Return a world of a search with two requests. known: the keys of the lock. waiting: the requests that wait."""
    return SimpleNamespace(
        task=task,
        trees=[None, None],
        actors=2,
        program=SimpleNamespace(servers=1),
        lease_ms=TTL_MS,
        oracle=NeverFree(),
        known=frozenset(known),
        serves=True,
        waiting=lambda state: waiting,
        threads=lambda state: (),
    )


LEFT_BY = {
    ("crashes", ASKS, False): Claim.acquires_atomically,
    ("crashes", WORKS, False): Claim.freed_after_crash,
    ("lost_replies", ASKS, False): Claim.acquires_atomically,
    ("lost_replies", RELEASES, False): Claim.freed_after_a_lost_release,
    ("lost_replies", RELEASES, True): Claim.freed_after_a_failed_release,
    ("resends", ASKS, False): Claim.survives_a_lost_reply,
    ("failures", WORKS, False): Claim.freed_after_failure,
    (): Claim.releases_only_its_own,
}


@every("left", LEFT_BY)
def test_a_lock_that_is_left_behind(left):
    """If a lock stays taken and no request uses it, the fault that hit its owner decides which claim breaks.

    Without such a fault, a release is blamed.
    """
    tested = (claim_of(*left),) if left else ()
    ghosts = beginning(2)._replace(owners=(("L", Owner(0, 0, tested)),))

    claim, limit_ms = claim_if_locked(ghosts, world(), "L", Budget())

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
    """The first reason of a holder stays; a lease that ends is charged to the last pause."""
    now_ms = 2000

    assert hold.at(now_ms).why is HOLDS[hold]
    assert hold.at(now_ms).is_entitled(now_ms) is (HOLDS[hold] is Why.ENTITLED)


@every(
    "claim, two_inside, served, decides",
    [
        (Claim.releases_only_its_own, False, 1, True),
        (Claim.releases_only_its_own, True, 1, False),  # it is not known whose lock a release frees
        (Claim.releases_atomically, True, 1, False),
        (Claim.counts_once, True, 1, True),
        (Claim.held_to_the_end, False, 1, True),
        (Claim.held_to_the_end, False, 0, False),  # a lock that never works keeps it by doing nothing
    ],
)
def test_claims_that_a_search_decides(claim, two_inside, served, decides):
    """A search decides a claim only if the claim was at stake in it."""
    broken = {Claim.exclusive: Broken(Finding(Claim.exclusive, Harm.TWO_HOLDERS), [])} if two_inside else {}

    assert SearchOutcome(Question(Task(TTL_MS)), Searched(complete=True, served=served, broken=broken)).decides(claim) is decides


@every(
    "hold, at_once, breaks",
    [
        (Hold("L", None), 1, [Claim.exclusive]),
        (Hold("L", None), 2, [Claim.exclusive, Claim.exclusive_in_process]),
        (Hold("L", 1000), 1, []),  # its lease has ended
        (Hold("other", None), 2, []),
        (None, 1, []),
    ],
)
def test_two_holders(hold, at_once, breaks):
    """A grant of a lock on which another holder relies breaks mutual exclusion, even if no increment is lost."""
    ghosts = Ghosts((Actor(WORKS, hold), Actor()), owners=(("L", Owner(1, 2000)),))
    effects = Effects(world(Task(TTL_MS, at_once=at_once)), ghosts, 2000)

    judge_mark(effects, 1, Granted("L", 0))

    assert [one.claim for one in effects.findings] == breaks
    assert effects.actors[1].phase == WORKS


AT_END = {  # whether the horizon has cut the schedule, since when no request has used the lock → the broken claims
    (False, 0): [(Claim.releases_only_its_own, Harm.STUCK), (Claim.serves_most_requests, Harm.STUCK)],
    (False, 8999): [(Claim.releases_only_its_own, Harm.STUCK), (Claim.serves_most_requests, Harm.STUCK)],
    (True, 0): [(Claim.serves_most_requests, Harm.STUCK)],
    (True, 8999): [],  # the lock was unused only for a moment: the requests would continue
}


@every("is_cut, idle_since_ms", AT_END)
def test_waiter_at_the_end(is_cut, idle_since_ms):
    """A request that waits at the end is locked out; at the horizon, only if the lock was unused for long."""
    state = State((0, 0), (RUNS, RUNS), 0, 0, 9000, NONE, beginning(2)._replace(idle_since_ms=idle_since_ms))

    found = end(world(waiting=(1,)), state, NONE, 9000 if is_cut else 9100)

    assert [(one.claim, one.harm) for one in found] == AT_END[is_cut, idle_since_ms]


@every("served, breaks", [(0, True), (1, False), (2, False)])
def test_few_served(served, breaks):
    """If no fault occurs, at least half of the requests must be served."""
    state = State((0, 0), (RUNS, RUNS), 0, 0, 100, NONE, beginning(2)._replace(served=served))

    found = end(world(known=()), state, NONE, 9000)

    assert [one.harm for one in found] == [Harm.FEW_SERVED] * breaks
