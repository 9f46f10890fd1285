"""List the promises: a row for each claim of app/lock.py, with the function that finds violations, the faults and the bound.

A row whose function is ``harm`` has its reasons in lab/judge/mechanisms.py: each mechanism there names the claim that it breaks.
The fields of a row are in lab/judge/promise.py. Each promise is judged in each run, unless the row says ``only_tested``: then
other scenarios do not show it well enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from app.failpoints import ACQUIRE, RELEASE
from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.judge.findings import Findings
from lab.judge.judgement import Violation
from lab.judge.promise import Bound, Promise
from lab.judge.violations import (
    blocked,
    half_done,
    harm,
    harm_in_one_process,
    holders_refused,
    late_write,
    nobody_asked,
    nobody_meanwhile,
    not_once,
    not_reentrant,
    overloaded,
    overtaken,
    reentered,
    slow_handover,
    slow_try,
    somebody_meanwhile,
    stuck,
    too_many_refused,
    waited_too_long,
)

Broken = Callable[[Promise, Findings], Iterator[Violation]]
PATIENCE_MS = 500  # how much later than its TTL a lock may be free again
IN_TIME = Bound(ttls=1, ms=PATIENCE_MS)
# a sound lock is handed over after the work, a small part of the TTL; a lock that is not released, after the whole TTL
WELL_BEFORE = Bound(ttls=0.7)


def _struck(effect: Effect) -> Callable[[Findings], bool]:
    """Return a function that tells whether a fault with this effect struck."""
    return lambda findings: any(fault.record.effect is effect for fault in findings.faults)


def _not_struck(effect: Effect) -> Callable[[Findings], bool]:
    return lambda findings: not _struck(effect)(findings)


def _explicit_lease(findings: Findings) -> bool:
    return findings.run.has_explicit_lease


def _ordinary_lease(findings: Findings) -> bool:  # a failed renewal and an explicit lease have claims of their own
    return _not_struck(Effect.RENEWAL_FAILS)(findings) and not _explicit_lease(findings)


# No increment is destroyed, and no two are inside at once.
WORK_IS_SAFE = (
    Promise(Claim.exclusive, harm),
    Promise(Claim.exclusive_in_process, harm_in_one_process, like=Claim.exclusive),
    Promise(Claim.held_to_the_end, harm, only_if=_ordinary_lease),
    Promise(Claim.held_past_an_explicit_lease, harm, like=Claim.held_to_the_end, only_if=_explicit_lease),
    Promise(Claim.survives_a_failed_renewal, harm, like=Claim.held_to_the_end, only_if=_struck(Effect.RENEWAL_FAILS)),
    Promise(Claim.releases_only_its_own, harm),
    Promise(Claim.releases_atomically, harm),
    Promise(Claim.stops_when_lost, harm),
    Promise(Claim.survives_a_delayed_write, late_write, effects=(Effect.WRITE_DELAYED,)),
    Promise(Claim.survives_a_freeze, harm),
    Promise(Claim.survives_a_late_freeze, harm),
    Promise(Claim.survives_a_slow_acquire, harm),
    Promise(Claim.survives_amnesia, harm),
    Promise(Claim.survives_delayed_amnesia, harm, like=Claim.survives_amnesia, only_tested=True),
    Promise(Claim.survives_clock_jump, harm),
    Promise(Claim.survives_failover, harm),
    Promise(Claim.survives_persisted_restart, harm),
    Promise(Claim.survives_session_loss, harm),
    Promise(Claim.survives_store_restart, harm),
)


def _freed(claim: Claim, mechanism: Mechanism, *effects: Effect, broken: Broken = stuck, **row: Any) -> Promise:
    """Return the row of a claim that another request gets the lock after a fault. If none wants it, a run shows nothing."""
    return Promise(
        claim, broken, mechanism, effects=effects, blind=nobody_asked, across_replicas=True, **{"bound": IN_TIME, **row}
    )


# After a fault, another request gets the lock within the bound.
FREED = (
    _freed(
        Claim.acquires_atomically,
        Mechanism.FAILED_IN_ACQUIRE,
        Effect.PROCESS_DIES,
        Effect.REQUEST_FAILS,
        broken=partial(stuck, to_the_end=True),
        phases=(ACQUIRE,),
    ),
    _freed(
        Claim.survives_a_lost_reply,
        Mechanism.LOCKED_OUT_BY_ITSELF,
        Effect.REPLY_LOST,
        broken=partial(stuck, to_the_end=True),
        bound=WELL_BEFORE,
    ),
    _freed(
        Claim.freed_after_crash,
        Mechanism.HOLDER_DIED,
        Effect.PROCESS_DIES,
        but_phases=(ACQUIRE,),
        only_if=_not_struck(Effect.CLOCKS_BACK),  # a clock that goes back has a claim of its own
    ),
    _freed(
        Claim.freed_with_a_clock_behind, Mechanism.CLOCK_JUMPED_BACK, Effect.PROCESS_DIES, only_if=_struck(Effect.CLOCKS_BACK)
    ),
    _freed(
        Claim.freed_after_failure,
        Mechanism.WORK_FAILED,
        Effect.REQUEST_FAILS,
        but_phases=(ACQUIRE, RELEASE),
        bound=Bound(ttls=1 / 3),  # a holder that always releases needs far less; without a release, the whole TTL passes
    ),
    # the lock is free after one TTL; waiters of a busy machine may be late
    _freed(Claim.freed_after_hang, Mechanism.HOLDER_HUNG, Effect.REQUEST_HANGS, bound=Bound(ttls=2)),
    _freed(
        Claim.freed_after_a_failed_release,
        Mechanism.RELEASE_FAILED,
        Effect.COMMAND_FAILS,
        broken=partial(stuck, unless_reentered=True),
        phases=(RELEASE,),
    ),
    _freed(
        Claim.freed_after_a_lost_release,
        Mechanism.RELEASE_REPLY_LOST,
        Effect.REPLY_DROPPED,
        phases=(RELEASE,),
        bound=WELL_BEFORE,
    ),
)
# While servers of the lock are down or silent, the lock is granted; without a majority of its servers, it is not.
AVAILABLE = (
    Promise(Claim.available_with_a_node_down, nobody_meanwhile, bound=Bound(share=0.5), only_tested=True),
    _freed(Claim.available_with_two_nodes_down, Mechanism.TOO_FEW_SERVERS, *Effect, only_tested=True),
    Promise(Claim.refuses_without_majority, somebody_meanwhile, Mechanism.GRANTED_BY_MINORITY, only_tested=True),
)
# Waiters are served, soon and in their order.
SERVED = (
    Promise(
        Claim.answers_a_try_at_once,
        slow_try,
        Mechanism.WAITED_BEFORE_GIVING_UP,
        bound=Bound(ms=200, tail_ms=1000),  # a try takes a few round trips; waiting in the scenario's queue takes far longer
        only_tested=True,
    ),
    Promise(
        Claim.prompt_handover,
        slow_handover,
        Mechanism.WAITERS_SLEPT,
        bound=Bound(ms=20, tail_ms=100),  # a wake-up takes far less, even from a store that writes to disk; a poll sleeps longer
        across_replicas=True,
        only_tested=True,
    ),
    Promise(
        Claim.loses_no_wakeup,
        waited_too_long,
        Mechanism.RELEASE_MISSED,
        bound=Bound(waits=1),
        only_tested=True,
        blind=overloaded,
    ),
    Promise(Claim.waiters_may_leave, blocked, Mechanism.BLOCKED_BY_LEAVER, bound=IN_TIME, across_replicas=True),
    Promise(
        Claim.breaks_deadlock,
        waited_too_long,
        Mechanism.WAITED_FOR_EACH_OTHER,
        bound=Bound(ttls=2, ms=PATIENCE_MS),  # a request waits for two locks
        only_if=lambda findings: findings.run.nested == "crossed",
        blind=overloaded,
    ),
    Promise(Claim.reentrant, not_reentrant, bound=Bound(ttls=1 / 2)),
    Promise(Claim.fair, overtaken, Mechanism.NO_QUEUE, bound=Bound(times=4), only_tested=True),
    Promise(Claim.fair_in_process, overtaken, Mechanism.NO_QUEUE_IN_REPLICA, bound=Bound(times=4), only_tested=True),
    Promise(
        Claim.serves_most_requests,
        too_many_refused,
        Mechanism.TOO_MANY_REFUSED,
        bound=Bound(share=0.5),  # a lock that votes among many competitors refuses some of them on a busy machine
        blind=overloaded,
    ),
)
# Each request's work is done once and as a whole, or is refused and not done.
WORK_IS_WHOLE = (
    Promise(Claim.counts_once, not_once, Mechanism.DONE_AGAIN),
    Promise(Claim.all_or_nothing, half_done, Mechanism.STOPPED_BETWEEN_WRITES),
    Promise(Claim.fence_outlives_restart, holders_refused, Mechanism.FENCE_RESTARTED, only_tested=True),
    Promise(Claim.reenters_only_its_own, reentered, Mechanism.TAKEN_FOR_OWNER),
)
ROWS = (*WORK_IS_SAFE, *FREED, *AVAILABLE, *SERVED, *WORK_IS_WHOLE)
# by the name of the claim, in the order of names: a verdict lists broken promises in this order
PROMISES = {one.claim.name: one for one in sorted(ROWS, key=lambda one: one.claim.name)}
