"""What is decided of a stage: for each budget of faults, the claims that hold in all schedules, and those that break."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from app.lock import Claim, Stage
from lab.explore.alike import NotAlike
from lab.explore.budget import Budget, from_cheapest
from lab.explore.event import Event
from lab.explore.program import Program
from lab.explore.replay import confirm, random_schedules
from lab.explore.search import Cycle, Searched, most_states, search
from lab.explore.server_table import RealRedis, ServerTable
from lab.explore.votes import servers_of
from lab.explore.world import World

TTL_MS = 3000  # where no other is given
WITHIN_S, WITHIN_OF_SEVERAL_S = 30.0, 120.0  # where no other time is given: a lock on several servers has more orders
CHECKED = 200  # schedules of a search in which nothing breaks, which are run again
CHECKED_OF_BROKEN = 10  # where something breaks, its shortest schedule is run again as well
SEED = 1
# which claims a budget puts to the test: others it says nothing of
ALWAYS = (Claim.exclusive, Claim.counts_once)
RELEASES = (Claim.releases_only_its_own, Claim.releases_atomically)
TESTED_BY = {
    "work": (*ALWAYS, Claim.held_to_the_end, *RELEASES),
    "pauses": (*ALWAYS, Claim.survives_a_freeze, Claim.survives_a_late_freeze, *RELEASES),
    "crashes": (*ALWAYS, Claim.freed_after_crash, Claim.acquires_atomically),
    "lost_replies": (*ALWAYS, Claim.acquires_atomically, Claim.freed_after_a_failed_release),
    "resends": (*ALWAYS, Claim.survives_a_lost_reply),
    "restarts": (*ALWAYS, Claim.survives_store_restart, Claim.fence_outlives_restart),
}


def tested(budget: Budget, work_ms: int, ttl_ms: int, servers: int) -> list[Claim]:
    """Return the claims that a search decides. servers: of how many the lock's store consists; of several, one restarts."""
    names = [name for name, number in zip(Budget._fields, budget, strict=True) if number]
    names += ["work"] if work_ms > ttl_ms else []
    tested_by = TESTED_BY if servers == 1 else TESTED_BY | {"restarts": (*ALWAYS, Claim.survives_amnesia)}
    found = dict.fromkeys(claim for name in names for claim in tested_by[name])
    return list(found or dict.fromkeys(ALWAYS))


@dataclass
class Question:
    """One search of a decision."""

    budget: Budget
    work_ms: int
    horizon_ms: int
    # the result; None before it is searched
    found: Searched | None = None
    # why it was not decided; empty if it was
    undecided: str = ""
    # whether each request takes the lock twice: this decides `reentrant`, and nothing else
    nested: bool = False


@dataclass
class Decision:
    """What is decided of one stage."""

    stage: Stage
    clients: int
    ttl_ms: int
    redis: str
    questions: list[Question] = field(default_factory=list)
    seconds: float = 0.0
    # how many servers the lock asks, where it is not the number that the lab runs
    of_servers: int | None = None

    @property
    def servers(self) -> int:
        """Of how many servers the lock's store consists."""
        return self.of_servers or servers_of(self.stage)

    @property
    def work_ms(self) -> int:
        """The duration of the work; a question in which the work outlasts the TTL has its own."""
        return min((one.work_ms for one in self.questions), default=0)

    @property
    def broken_promises(self) -> list[Claim]:
        """The claims that the stage makes and that some schedule breaks."""
        broken = dict.fromkeys(claim for one in self.questions if one.found for claim in one.found.broken)
        return [claim for claim in broken if claim in self.stage.claims]


def questions(clients: int, ttl_ms: int, work_ms: int | None, budgets: Iterable[Budget] | None) -> list[Question]:
    """Return what is searched, from the cheapest: by default no fault, work that outlasts the TTL, one fault, two."""
    chosen = list(from_cheapest() if budgets is None else budgets)
    asked = [Question(budget, work_ms or 0, horizon_ms(clients, ttl_ms, work_ms or 0)) for budget in chosen]
    if budgets is None and work_ms is None:
        long_ms = ttl_ms * 5 // 3 // 100 * 100
        asked.insert(1, Question(Budget(), long_ms, horizon_ms(clients, ttl_ms, long_ms)))
    return asked


def within_s(stage: Stage, budget_s: float | None) -> float:
    """Return how long all searches may take: as long as is given, or what fits the stage."""
    return budget_s or (WITHIN_S if servers_of(stage) == 1 else WITHIN_OF_SEVERAL_S)


def horizon_ms(clients: int, ttl_ms: int, work_ms: int) -> int:
    """Return until when a search goes: long enough for a lock to expire, for all to work, and for one to be locked out."""
    return 2 * ttl_ms + clients * work_ms + 1000


def decide(
    stage: Stage,
    clients: int,
    ttl_ms: int,
    asked: Sequence[Question],
    real: RealRedis,
    budget_s: float,
    on_done: Callable[[Question], None] = lambda question: None,
    servers: int | None = None,
) -> Decision:
    """Search each question until the time is over. Raises what the stage's code raises before its first command, and Differs.

    servers: how many the lock asks, where it is not the number that the lab runs.
    """
    decision = Decision(stage, clients, ttl_ms, real.version, list(asked), of_servers=servers)
    began_s = time.monotonic()
    tables = ServerTable(real), ServerTable(real)
    worlds: dict[tuple[int, bool], World] = {}
    confirmed: dict[tuple[int, bool], set[tuple[Event, ...]]] = {}  # what was run again, of each world

    def world_of(question: Question, alike: bool) -> World:
        program = Program(stage, ttl_ms, question.work_ms, real, question.nested, servers)
        # the histories of several servers are not merged: their commands are not looked at for that
        return World(program, clients, *tables, merge=program.votes.servers == 1, alike=alike, reduced=True)

    for question in asked:
        left_s = began_s + budget_s - time.monotonic()
        if left_s <= 0:
            question.undecided = "there was no time left"
            continue
        which = question.work_ms, question.nested
        until_s = time.monotonic() + left_s
        done = confirmed.setdefault(which, set())
        try:
            if which not in worlds:
                worlds[which] = world_of(question, alike=True)
            _answer(question, worlds[which], real, until_s, done)
        except NotAlike:  # then each of several servers counts for itself
            worlds[which] = world_of(question, alike=False)
            _answer(question, worlds[which], real, until_s, done)
        on_done(question)
    for world in worlds.values():
        world.close()
    decision.seconds = time.monotonic() - began_s
    return decision


def _answer(question: Question, world: World, real: RealRedis, until_s: float, confirmed: set[tuple[Event, ...]]) -> None:
    try:
        question.found = found = search(world, question.budget, question.horizon_ms, until_s, fold=True)
    except Cycle:
        question.undecided = "a schedule returns to where it was: their number has no end"
        return
    if not found.complete:
        end = "memory" if found.states >= most_states(world) else "time"
        question.undecided = f"the {end} was over after {found.states} states"
    doubtful = [broken.events for broken in found.broken.values()]
    if found.complete:  # with other names: that no client is treated otherwise is not believed either
        number = CHECKED_OF_BROKEN if found.broken else CHECKED
        doubtful += random_schedules(found, number, SEED, world, question.horizon_ms)
    found.graph.clear()  # of many searches it would fill the memory
    if world.alike is not None:
        world.alike.forget()
    for events in doubtful:
        if tuple(events) not in confirmed:
            confirm(world, world.program, events, question.budget, question.horizon_ms, real)
            confirmed.add(tuple(events))
