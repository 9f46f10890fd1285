"""List the default searches, the cheapest first, and the claims that each search tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.lock import Claim, Stage
from lab.explore.code.program import Task, servers_of
from lab.explore.model import GRID_MS
from lab.explore.search.event import NONE, Budget

TTL_MS = 3000  # if no other is given
PAIR, THREE = 2, 3
ALWAYS = (Claim.exclusive, Claim.counts_once)
RELEASES = (Claim.releases_only_its_own, Claim.releases_atomically)
WHERE_NOTHING_FAILS = (Claim.serves_most_requests, Claim.loses_no_wakeup, *RELEASES)
OF_FAULTS = {
    "pauses": (Claim.survives_a_freeze, Claim.survives_a_late_freeze, *RELEASES),
    "crashes": (Claim.freed_after_crash, Claim.acquires_atomically),
    "lost_replies": (Claim.acquires_atomically, Claim.freed_after_a_failed_release, Claim.freed_after_a_lost_release),
    "resends": (Claim.survives_a_lost_reply,),
    "restarts": (Claim.survives_store_restart, Claim.fence_outlives_restart),
    "failures": (Claim.freed_after_failure,),
}
SINGLE_FAULTS = [Budget(**{name: 1}) for name in Budget._fields]
# The pairs that are needed to find a wrong lock of the corpus: the stage bucketed, a paused client that renews the lock of a dead
# one, and an unlock that is sent twice. `make trial` shows it: it searches each wrong lock.
PAIRS_OF_FAULTS = (Budget(pauses=2), Budget(pauses=1, crashes=1), Budget(pauses=1, resends=1))
# a command to one server is one event, so no fault can hit a client in the middle of it
OF_SEVERAL = {"restarts": (Claim.survives_amnesia,), "pauses": (*OF_FAULTS["pauses"], Claim.survives_a_slow_acquire)}


@dataclass(frozen=True)
class Question:
    """One search: the task of the requests, the number of replicas, and the budget of faults."""

    task: Task
    budget: Budget = NONE
    replicas: int = PAIR
    # whether a promise needs it to be decided; otherwise it runs only while there is time
    needed: bool = True

    def as_fields(self, ttl_ms: int) -> dict[str, Any]:
        """Return the fields of the search for JSON. ttl_ms: of most searches of the stage; only another one is a field."""
        task = self.task._asdict()
        fields: dict[str, Any] = {
            "replicas": self.replicas,
            **{name: task[name] for name in ("at_once", "in_turn", "nested", "ends", "work_ms", "wait_ms", "nap_ms")},
            "faults": {name: number for name, number in self.budget._asdict().items() if number},
        }
        return fields if task["ttl_ms"] == ttl_ms else fields | {"ttl_ms": task["ttl_ms"]}

    @property
    def horizon_ms(self) -> int:
        """Return the end of schedules: time for a lock to expire, for all requests to work, and for a waiter to be locked out."""
        return 2 * self.task.ttl_ms + self.requests * self.task.work_ms + 1000

    @property
    def requests(self) -> int:
        """Return the number of requests."""
        return self.replicas * self.task.at_once * self.task.in_turn

    @property
    def fits(self) -> bool:
        """Return whether there is no fault, the work fits into the TTL, and requests wait without a limit."""
        task = self.task
        return self.budget == NONE and task.work_ms < task.ttl_ms and task.wait_ms is None and not task.nested

    def tests(self, servers: int = 1) -> tuple[Claim, ...]:
        """Return the claims that the search tests. servers: the number of servers of the lock's store."""
        task, claims = self.task, list(ALWAYS)
        if task.nested:
            return (Claim.reentrant, Claim.held_to_the_end) if task.work_ms > task.ttl_ms else (Claim.reentrant,)
        if task.at_once > 1:
            claims.append(Claim.exclusive_in_process)
        if self.fits:
            claims += WHERE_NOTHING_FAILS
        if task.work_ms > task.ttl_ms:
            claims += [Claim.held_to_the_end, *RELEASES]
            claims += [Claim.survives_a_failed_renewal] if self.budget.lost_replies else []
        elif self.budget.lost_replies == 0 or task.work_ms == 0:
            of_faults = OF_FAULTS | (OF_SEVERAL if servers > 1 else {})
            claims += [claim for name, number in self.budget._asdict().items() if number for claim in of_faults[name]]
        if task.wait_ms == 0:
            claims.append(Claim.answers_a_try_at_once)
        elif task.wait_ms is not None:
            claims.append(Claim.waiters_may_leave)
        return tuple(dict.fromkeys(claims))

    def needs(self, claim: Claim, servers: int) -> bool:
        """Return whether a claim needs this search to be decided."""
        return self.needed and claim in self.tests(servers)


def decidable(servers: int = 1) -> tuple[Claim, ...]:
    """Return the claims that some default search tests, in the order of ``Claim``."""
    tested = {claim for question in _all(Task(TTL_MS), servers, reenters=True) for claim in question.tests(servers)}
    return tuple(claim for claim in Claim if claim in tested)


def by_default(stage: Stage, ttl_ms: int) -> list[Question]:
    """Return the default searches of a stage."""
    questions = _all(Task(ttl_ms), servers_of(stage), Claim.reentrant in stage.claims)
    questions = (question for question in questions if question.task.ttl_ms % stage.ttl_step_ms == 0)
    return [question for question in questions if not stage.has_fixed_ttl or question.task.ttl_ms == stage.ttl_ms]


class SearchOptions(NamedTuple):
    """The options of a command that choose searches; None for an option that is left out."""

    ttl_ms: int | None = None
    clients: int | None = None
    at_once: int | None = None
    in_turn: int | None = None
    work_ms: int | None = None
    wait_ms: int | None = None
    nap_ms: int | None = None
    nested: bool = False
    ends: bool = False
    budget: Budget | None = None

    def questions(self, stage: Stage) -> list[Question]:
        """Return the searches of a stage: the default ones if only the TTL is given, else the ones that the options describe."""
        ttl_ms = self.ttl_of(stage)
        if self == SearchOptions(ttl_ms=self.ttl_ms):
            return by_default(stage, ttl_ms)
        return list(self._chosen(ttl_ms))

    def ttl_of(self, stage: Stage) -> int:
        """Return the TTL of the searches."""
        return (stage.ttl_ms if stage.has_fixed_ttl else self.ttl_ms) or TTL_MS

    def _chosen(self, ttl_ms: int) -> Iterator[Question]:
        budgets = [self.budget] if self.budget is not None else [NONE] if self.nested else [NONE, *SINGLE_FAULTS]
        works = [0] if self.budget is not None or self.nested else [0, on_hundreds(ttl_ms * 5 / 3)]
        works = works if self.work_ms is None else [self.work_ms]
        at_once = self.at_once or 1
        for work_ms in works:
            nap_ms = self.nap_ms or (seldom_ms(ttl_ms) if work_ms else GRID_MS)
            task = Task(ttl_ms, work_ms, self.wait_ms, self.nested, at_once, self.in_turn or 1, nap_ms, self.ends)
            for budget in budgets if work_ms == works[0] else [NONE]:
                yield Question(task, budget, self.clients or (1 if at_once > 1 else PAIR))


def seldom_ms(ttl_ms: int) -> int:
    """Return a long nap in milliseconds, whose multiples avoid a third of the TTL, the usual moment of renewals."""
    return max(GRID_MS, on_hundreds(ttl_ms * 7 / 30))


def _all(task: Task, servers: int, reenters: bool) -> Iterator[Question]:
    ttl_ms = task.ttl_ms
    long, part, third = (on_hundreds(ttl_ms * share) for share in (5 / 3, 2 / 3, 1 / 3))
    seldom = task._replace(nap_ms=seldom_ms(ttl_ms))
    yield Question(task)
    yield Question(seldom._replace(work_ms=long))
    if servers == 1:
        yield Question(task._replace(work_ms=part, wait_ms=third))
        yield Question(task._replace(work_ms=part, wait_ms=0))
        yield Question(task._replace(at_once=2), replicas=1)
        yield Question(seldom._replace(at_once=2, work_ms=long), replicas=1, needed=False)
        yield Question(seldom._replace(in_turn=2), needed=False)
        yield Question(seldom._replace(at_once=2, in_turn=2, work_ms=part, wait_ms=third), replicas=1, needed=False)
    if reenters:
        yield Question(task._replace(nested=True))
        yield Question(seldom._replace(nested=True, work_ms=long), needed=False)
    for budget in SINGLE_FAULTS:
        yield Question(task, budget)
    if servers == 1:
        for budget in (Budget(lost_replies=1), Budget(failures=1)):  # also after the lease has ended
            yield Question(seldom._replace(work_ms=long), budget)
        yield Question(task._replace(ends=True))
    yield Question(task, replicas=THREE, needed=servers > 1)
    if servers == 1:
        # a fault can change the memory of a process, which its next request uses
        yield Question(seldom._replace(in_turn=2), Budget(lost_replies=1), needed=False)
        # a TTL that is not a whole number of seconds
        yield Question(seldom._replace(ttl_ms=ttl_ms - GRID_MS, work_ms=ttl_ms - 2 * GRID_MS), replicas=THREE, needed=False)
        yield Question(seldom._replace(at_once=2, work_ms=ttl_ms - GRID_MS, wait_ms=ttl_ms), needed=False)
        # one client holds the lock; the second waits, gets it and dies; the third still waits
        yield Question(seldom, Budget(crashes=1), replicas=THREE, needed=False)
    for budget in PAIRS_OF_FAULTS:
        yield Question(seldom, budget, needed=False)


def on_hundreds(duration_ms: float) -> int:
    """Return a duration in milliseconds, rounded down to the grid of moments."""
    return int(duration_ms) // GRID_MS * GRID_MS
