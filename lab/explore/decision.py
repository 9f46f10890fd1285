"""Decide a stage by searches: each claim holds in all schedules of a search, or a schedule breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeVar

from app.lock import Claim, Stage
from lab.explore.code.program import Program, Task, servers_of
from lab.explore.code.replica import NeverWaits, NewToken
from lab.explore.code.tree import Tree
from lab.explore.model import NotExplored, TimeLimit
from lab.explore.questions import PAIR, Question, decidable
from lab.explore.search.event import NONE
from lab.explore.search.harm import Harm
from lab.explore.search.oracle import Probe
from lab.explore.search.reductions import ServersDiffer, ServerSymmetry, UnnoticedCommands
from lab.explore.search.replay import ClientsDiffer, Differs, check_clients, confirm
from lab.explore.search.search import MOST_STATES, Broken, Searched, random_schedules, search
from lab.explore.search.transitions import Livelock
from lab.explore.search.world import World
from lab.explore.store.real_redis import MachineStalled, RealRedis
from lab.explore.store.table import Nodes, Table

HOLDS, BREAKS, OPEN, NOT_ASKED = "holds", "breaks", "not_decided", "not_looked_at"  # the status of a claim
CHECKED, CHECKED_OF_OTHERS = 2, 1  # how many random schedules run again: of a search that a promise needs, and of another
OF_SEARCH = 0.75  # the search's share of the time for a question; the rest is for running schedules again
SEED = 1
T = TypeVar("T")


class Undecided(StrEnum):
    """The reasons why a search has decided nothing."""

    TIME = "time"  # no time was left
    STARVED = "starved"  # other programs used the processors, until five times the budget had passed
    INTERRUPTED = "interrupted"  # the user ended it before its time was over
    MEMORY = "memory"
    NOBODY_SERVED = "nobody_served"  # a request alone, without a fault, does not do its work once
    FAILS = "fails"  # a request ends with an error, although no fault was injected
    REFUSED = "refused"  # the stage does something that the explorer has no model of
    DIFFERS = "differs"  # a schedule that runs again behaves otherwise
    STALLED = "stalled"  # the machine stood still
    STUCK = "stuck"  # the code neither ends nor waits for anything that the explorer knows
    CRASHED = "crashed"  # the search itself failed


# after these, the results of all searches are in doubt: they run the same code
DOUBTFUL = (Undecided.FAILS, Undecided.NOBODY_SERVED, Undecided.REFUSED, Undecided.DIFFERS)


REASONS: dict[type[BaseException], Undecided] = {
    NotExplored: Undecided.REFUSED,
    NeverWaits: Undecided.STUCK,
    Livelock: Undecided.STUCK,
    MachineStalled: Undecided.STALLED,
    Differs: Undecided.DIFFERS,
    RecursionError: Undecided.CRASHED,
}
OF_WORK = (Claim.held_to_the_end, Claim.survives_a_failed_renewal)  # a lock that never lets a request work cannot break these
# if two requests hold the lock at once, it is not defined whose lock a release frees
OF_OWNERS = (Claim.releases_only_its_own, Claim.releases_atomically)


@dataclass
class SearchOutcome:
    """The outcome of one search."""

    question: Question
    # None before the search, and if it could not begin
    result: Searched | None = None
    # None if the search has decided all its claims
    undecided: Undecided | None = None
    # more about ``undecided``: the error, the command, the number of states
    detail: str = ""
    # whether the search was needless: the code draws no fraction, so its values make no difference
    is_moot: bool = False

    @property
    def is_decided(self) -> bool:
        """Return whether all schedules were searched."""
        return self.undecided is None and self.result is not None and self.result.complete

    def decides(self, claim: Claim) -> bool:
        """Return whether the search decides a claim: of work, only if a request was served; of owners, with mutual exclusion."""
        if self.result is None or not self.is_decided:
            return False
        if claim in OF_OWNERS and Claim.exclusive in self.result.broken:
            return False
        return claim not in OF_WORK or self.result.served > 0

    def disbelieve(self, claim: Claim, why: Undecided, detail: str) -> None:
        """Withdraw a broken claim, because its schedule could not be run again."""
        assert self.result is not None  # noqa: S101 - it has broken a claim
        del self.result.broken[claim]
        self.undecided, self.detail = why, detail


@dataclass
class Decision:
    """The outcomes of all searches of one stage."""

    stage: Stage
    ttl_ms: int
    questions: InitVar[Sequence[Question]]
    # by question: its outcome
    answers: list[SearchOutcome] = field(default_factory=list)
    redis: str = ""
    seconds: float = 0.0
    # the number of servers that the lock asks; 0 becomes the number that the lab runs
    servers: int = 0
    # by line of the stage: the random values that were drawn there
    drawn: dict[str, str] = field(default_factory=dict)
    # the one claim to decide, promised or not; None for all promises
    only: Claim | None = None

    def __post_init__(self, questions: Sequence[Question]) -> None:
        self.answers = self.answers or [SearchOutcome(question, undecided=Undecided.TIME) for question in questions]
        self.servers = self.servers or servers_of(self.stage)

    @property
    def claims(self) -> frozenset[Claim]:
        """Return the claims to decide."""
        return frozenset(self.stage.claims if self.only is None else {self.only})

    def broken(self) -> dict[Claim, tuple[SearchOutcome, Broken]]:
        """Return each broken claim with the first search that breaks it, and a shortest schedule there."""
        first: dict[Claim, tuple[SearchOutcome, Broken]] = {}
        for answer in self.answers:
            for claim, broken in answer.result.broken.items() if answer.result is not None else ():
                first.setdefault(claim, (answer, broken))
        return first

    def status(self, claim: Claim) -> str:
        """Return the status of a claim: BREAKS, NOT_ASKED, OPEN or HOLDS."""
        if claim in self.broken():
            return BREAKS
        is_asked = any(answer.question.needs(claim, self.servers) for answer in self.answers)
        return NOT_ASKED if not is_asked else OPEN if self.missing(claim) else HOLDS

    def promises(self) -> dict[Claim, str]:
        """Return the status of each claim to decide."""
        return {claim: self.status(claim) for claim in Claim if claim in self.claims}

    def of_status(self, status: str) -> list[Claim]:
        """Return the claims to decide that have this status."""
        return [claim for claim in self.promises() if self.status(claim) == status]

    def missing(self, claim: Claim) -> list[SearchOutcome]:
        """Return the searches that a claim needs, and that have not decided it."""
        return [answer for answer in self.answers if answer.question.needs(claim, self.servers) and not answer.decides(claim)]

    @property
    def is_whole(self) -> bool:
        """Return whether each claim was decided. A claim that was not asked about counts if a default search tests it."""
        undecided = self.of_status(OPEN) or set(self.of_status(NOT_ASKED)) & set(decidable(self.servers))
        doubtful = any(answer.undecided in DOUBTFUL for answer in self.answers if answer.question.needed)
        return not (undecided or doubtful) and any(answer.is_decided for answer in self.answers)


class Explorer:
    """Answers questions about one stage. Later searches use all that earlier ones have learned."""

    def __init__(self, stage: Stage, real: RealRedis, servers: int | None = None) -> None:
        """Take the stage and the server. servers: the number that the lock asks; None for as many as the lab runs."""
        self.stage, self.real, self.servers = stage, real, servers
        self.counter = Table(real)
        several = servers_of(stage) > 1
        self.lock = Nodes([Table(real)] * (servers or servers_of(stage))) if several else Table(real)
        self._worlds: dict[tuple[Task, int], World] = {}
        self._program = cache(self._new_program)
        self._tree = cache(lambda task, number: Tree(self._program(task), number))
        self._probes: dict[int, Probe] = {}
        self._alone: dict[Task, tuple[Undecided, str] | None] = {}
        self._servers_are_alike = self._clients_are_alike = True
        self._confirmed: set[Claim] = set()  # the claims that broke again when a schedule of an earlier search ran again
        # the lines that make a token of narrow draws; by line: the values that were drawn there
        self._tokens: set[tuple[str, int]] = set()
        self._drawn: dict[tuple[str, int], str] = {}

    @property
    def drawn(self) -> dict[str, str]:
        """Return by line of the stage, as file:line, the random values that were drawn there."""
        return {f"{Path(file).name}:{line}": values for (file, line), values in self._drawn.items() if line}

    def world(self, task: Task, replicas: int) -> World:
        """Return the world of some replicas with a task. Raises any error of the stage's code before its first command."""
        return self.learning(lambda: self._world(task, replicas))

    def learning(self, work: Callable[[], T]) -> T:
        """Return the result of some work. Begin it again after an error by which the explorer learns about the stage."""
        while True:
            try:
                return work()
            except ServersDiffer:  # from now on each server is searched by itself
                self._servers_are_alike = False
            except ClientsDiffer:  # from now on each client is searched by itself
                self._clients_are_alike = False
            except NewToken:  # a line makes a token, or a client can tell which scripts are loaded
                pass
            self.forget()

    def _new_program(self, task: Task) -> Program:
        program = Program(self.stage, task, self.servers)
        program.drawing.tokens, program.drawing.values = self._tokens, self._drawn
        return program

    def _world(self, task: Task, replicas: int) -> World:
        if (task, replicas) in self._worlds:
            return self._worlds[task, replicas]
        program = self._program(task)
        if task.ttl_ms not in self._probes:
            self._probes[task.ttl_ms] = Probe(program, self.lock, self.counter)
        probe = self._probes[task.ttl_ms]
        world = World(program, [self._tree(task, number) for number in range(replicas)], self.lock, self.counter)
        world.oracle, world.known = probe, probe.known()
        if isinstance(self.lock, Nodes) and self._servers_are_alike:
            world.symmetry, world.unnoticed = (
                ServerSymmetry(self.lock, program.servers),
                UnnoticedCommands(self.lock.tables[0], replicas),
            )
        self._worlds[task, replicas] = world
        return world

    def answer(
        self, question: Question, within_s: float, on_broken: Callable[[Broken], None] = lambda broken: None
    ) -> SearchOutcome:
        """Search a question, run its schedules again, and return the outcome. within_s: seconds of processor time."""
        limit, answer = TimeLimit(within_s), SearchOutcome(question)
        try:
            self.learning(lambda: self._answer(answer, limit, on_broken))
        except tuple(REASONS) as error:
            answer.undecided = next(why for kind, why in REASONS.items() if isinstance(error, kind))
            answer.detail = str(error)
        return answer

    def _answer(self, answer: SearchOutcome, limit: TimeLimit, on_broken: Callable[[Broken], None]) -> None:
        task = answer.question.task._replace(at_once=1, in_turn=1)
        if task not in self._alone:
            self._alone[task] = self._run_alone(task, limit)
        if (alone := self._alone[task]) is not None:
            answer.undecided, answer.detail = alone
        else:
            self._search(answer, limit, on_broken)

    def forget(self) -> None:
        """End all replicas, and forget all worlds. Knowledge about lines that draw is kept."""
        for world in self._worlds.values():
            world.close()
        for probe in self._probes.values():
            probe.close()
        for known in (self._worlds, self._probes, self._alone):
            known.clear()
        self._tree.cache_clear()
        self._program.cache_clear()

    close = forget

    def _run_alone(self, task: Task, limit: TimeLimit) -> tuple[Undecided, str] | None:
        """Return why nothing can be decided; None if a request alone, without a fault, ends well and does its work once."""
        horizon_ms = task.work_ms + 2 * task.ttl_ms
        result = search(self.world(task, 1), NONE, horizon_ms, limit.left_s)
        failed = next((broken.finding for broken in result.broken.values() if broken.finding.harm is Harm.FAILED), None)
        if failed is not None:
            return Undecided.FAILS, failed.error
        if not result.complete:
            return _why_over(limit), "a request alone does not end"
        does_work = result.served or Claim.counts_once in result.broken
        if not does_work and task.work_ms <= task.ttl_ms:  # a lock may give up work that takes longer than its TTL
            return Undecided.NOBODY_SERVED, "it was refused" if result.refused else "it did not do its work"
        return None

    def _search(self, answer: SearchOutcome, limit: TimeLimit, on_broken: Callable[[Broken], None]) -> None:
        question = answer.question
        world = self.world(question.task, question.replicas)
        # three clients that split the votes of several servers may all give up, and the lock is not to blame
        world.serves = question.fits and (question.replicas == PAIR or world.program.servers == 1)
        folds, within_s = self._clients_are_alike, limit.left_s * OF_SEARCH
        result = answer.result = search(world, question.budget, question.horizon_ms, within_s, folds, on_broken)
        answer.is_moot = question.task.ends and not world.program.drawing.drew_fraction
        result.graph = None  # the graphs of many searches would fill the memory
        if world.symmetry is not None:
            world.symmetry.forget()
        if not result.complete:
            answer.undecided = Undecided.MEMORY if result.states >= MOST_STATES else _why_over(limit)
            answer.detail = f"{result.states} states"
        self._run_again(world, answer, limit, folds)
        world.close()  # the waiting replicas of many searches would fill the memory too

    def _run_again(self, world: World, answer: SearchOutcome, limit: TimeLimit, folds: bool) -> None:
        """Run the schedules of broken claims and some random schedules again, until the time is over. Raises Differs."""
        result, question = answer.result, answer.question
        assert result is not None  # noqa: S101 - it was searched
        for claim, broken in [pair for pair in result.broken.items() if pair[0] not in self._confirmed]:
            if limit.left_s < 0:  # the schedule will run again before it is reported
                break
            try:
                confirm(world, broken.events, question.horizon_ms)
                self._confirmed.add(claim)
            except (Differs, MachineStalled) as error:  # only this claim is withdrawn
                if isinstance(error, ClientsDiffer) and folds:
                    raise
                answer.disbelieve(claim, Undecided.DIFFERS if isinstance(error, Differs) else Undecided.STALLED, str(error))
        failed = next((broken.finding for broken in result.broken.values() if broken.finding.harm is Harm.FAILED), None)
        if failed is not None:
            answer.undecided, answer.detail = answer.undecided or Undecided.FAILS, failed.error
        if not answer.is_decided:
            return
        # random schedules, without tables, and with permuted clients
        number = CHECKED if question.needed else CHECKED_OF_OTHERS
        for events in random_schedules(world, question.budget, question.horizon_ms, number, SEED):
            if limit.left_s < 0:
                break
            seen = confirm(world, events, question.horizon_ms)
            if question.replicas > 1 and folds:
                check_clients(world, events, question.horizon_ms, seen)


def _why_over(limit: TimeLimit) -> Undecided:
    """Return why the time of a search is over: it was spent, or other programs used the processors."""
    cpu_s, passed_s = limit.spent_s
    return Undecided.STARVED if passed_s > cpu_s else Undecided.TIME
