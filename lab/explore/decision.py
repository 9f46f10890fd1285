"""What is decided of a stage: of each search, the claims that hold in all schedules, and those that break."""

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

HOLDS, BREAKS, OPEN, NOT_ASKED = "holds", "breaks", "not_decided", "not_looked_at"  # what is decided of a claim
CHECKED, CHECKED_OF_OTHERS = 2, 1  # random schedules of each search, which are run again; of one that no promise needs
OF_SEARCH = 0.75  # of the time of a question; the rest is for running again what was found
SEED = 1
T = TypeVar("T")


class Undecided(StrEnum):
    """Why a search has decided nothing."""

    TIME = "time"  # there was none left
    STARVED = "starved"  # other programs took the processors, until five times the budget had passed
    INTERRUPTED = "interrupted"  # by the user, before the time was over
    MEMORY = "memory"
    NOBODY_SERVED = "nobody_served"  # a request alone, without a fault, does not do its work once
    FAILS = "fails"  # a request ends with an error, although nothing was injected
    REFUSED = "refused"  # the stage does something that the explorer has no model of
    DIFFERS = "differs"  # a schedule that is run again behaves otherwise
    STALLED = "stalled"  # the machine
    STUCK = "stuck"  # the code neither ends nor waits for anything that the explorer knows
    CRASHED = "crashed"  # the search itself


# after these, the whole stage is in doubt: other searches see the same code
DOUBTFUL = (Undecided.FAILS, Undecided.NOBODY_SERVED, Undecided.REFUSED, Undecided.DIFFERS)


REASONS: dict[type[BaseException], Undecided] = {
    NotExplored: Undecided.REFUSED,
    NeverWaits: Undecided.STUCK,
    Livelock: Undecided.STUCK,
    MachineStalled: Undecided.STALLED,
    Differs: Undecided.DIFFERS,
    RecursionError: Undecided.CRASHED,
}
OF_WORK = (Claim.held_to_the_end, Claim.survives_a_failed_renewal)  # a lock that never works keeps these by doing nothing
# where two hold the lock at once, nobody can say whose lock a release frees
OF_OWNERS = (Claim.releases_only_its_own, Claim.releases_atomically)


@dataclass
class SearchOutcome:
    """What came of one search."""

    question: Question
    # None before it was searched, and where it could not begin
    result: Searched | None = None
    # None where all of it is decided
    undecided: Undecided | None = None
    # what exactly: the error, the command, the number of states
    detail: str = ""
    # whether there was nothing to ask: no fraction is drawn, so that its ends change nothing
    is_moot: bool = False

    @property
    def is_decided(self) -> bool:
        """Return whether all schedules were looked at."""
        return self.undecided is None and self.result is not None and self.result.complete

    def decides(self, claim: Claim) -> bool:
        """Return whether this decides a claim: all schedules were looked at; of work, somebody was served; of owners, one was."""
        if self.result is None or not self.is_decided:
            return False
        if claim in OF_OWNERS and Claim.exclusive in self.result.broken:
            return False
        return claim not in OF_WORK or self.result.served > 0

    def disbelieve(self, claim: Claim, why: Undecided, about: str) -> None:
        """Forget that the search breaks a claim: the schedule could not be run again."""
        assert self.result is not None  # noqa: S101 - it has broken a claim
        del self.result.broken[claim]
        self.undecided, self.detail = why, about


@dataclass
class Decision:
    """What is decided of one stage."""

    stage: Stage
    ttl_ms: int
    questions: InitVar[Sequence[Question]]
    # of each question, what came of it
    answers: list[SearchOutcome] = field(default_factory=list)
    redis: str = ""
    seconds: float = 0.0
    # how many servers the lock asks, where it is not the number that the lab runs
    of_servers: int | None = None
    # by line of the stage, what was drawn there
    drawn: dict[str, str] = field(default_factory=dict)
    # the claim that is asked about, promised or not; None for all promises
    only: Claim | None = None

    def __post_init__(self, questions: Sequence[Question]) -> None:
        self.answers = self.answers or [SearchOutcome(one, undecided=Undecided.TIME) for one in questions]

    @property
    def claims(self) -> frozenset[Claim]:
        """The claims that are asked about."""
        return frozenset(self.stage.claims if self.only is None else {self.only})

    @property
    def servers(self) -> int:
        """Of how many servers the lock's store consists."""
        return self.of_servers or servers_of(self.stage)

    def broken(self) -> dict[Claim, tuple[SearchOutcome, Broken]]:
        """Return each claim that breaks, with the first search in which it does, and a shortest schedule there."""
        found: dict[Claim, tuple[SearchOutcome, Broken]] = {}
        for answer in self.answers:
            for claim, broken in answer.result.broken.items() if answer.result is not None else ():
                found.setdefault(claim, (answer, broken))
        return found

    def status(self, claim: Claim) -> str:
        """Return what is decided of a claim that is asked about."""
        if claim in self.broken():
            return BREAKS
        is_asked = any(one.question.needs(claim, self.servers) for one in self.answers)
        return NOT_ASKED if not is_asked else OPEN if self.missing(claim) else HOLDS

    def promises(self) -> dict[Claim, str]:
        """Return what is decided of each claim that is asked about."""
        return {claim: self.status(claim) for claim in Claim if claim in self.claims}

    def of_status(self, status: str) -> list[Claim]:
        """Return the claims that are asked about of which this is decided."""
        return [claim for claim, its in self.promises().items() if its == status]

    def missing(self, claim: Claim) -> list[SearchOutcome]:
        """Return the searches that are missing to decide a claim."""
        return [one for one in self.answers if one.question.needs(claim, self.servers) and not one.decides(claim)]

    @property
    def is_whole(self) -> bool:
        """Whether every claim that is asked about, and that some default search decides, was decided."""
        undecided = self.of_status(OPEN) or set(self.of_status(NOT_ASKED)) & set(decidable(self.servers))
        doubtful = any(one.undecided in DOUBTFUL for one in self.answers if one.question.needed)
        return not (undecided or doubtful) and any(one.is_decided for one in self.answers)


class Explorer:
    """Answers questions about one stage. What one search has learned, the next ones use."""

    def __init__(self, stage: Stage, real: RealRedis, servers: int | None = None) -> None:
        """Take the stage and the server. servers: how many the lock asks, where it is not the number that the lab runs."""
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
        self._confirmed: set[Claim] = set()  # the claims that break when a schedule of an earlier search is run again
        # the lines that make a token of narrow draws; by line, what was drawn there
        self._tokens: set[tuple[str, int]] = set()
        self._drawn: dict[tuple[str, int], str] = {}

    @property
    def drawn(self) -> dict[str, str]:
        """By line of the stage, what was drawn there."""
        return {f"{Path(file).name}:{line}": what for (file, line), what in self._drawn.items() if line}

    def world(self, task: Task, replicas: int) -> World:
        """Return the world of some replicas that do something. Raises what the stage's code raises before its first command."""
        return self.learning(lambda: self._world(task, replicas))

    def learning(self, work: Callable[[], T]) -> T:
        """Return what some work returns. It begins again when it meets what has to be known from the start."""
        while True:
            try:
                return work()
            except ServersDiffer:  # then each of several servers counts for itself
                self._servers_are_alike = False
            except ClientsDiffer:  # then no client stands for another
                self._clients_are_alike = False
            except NewToken:  # a line makes a token, or a client notices which scripts are loaded
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
        """Search a question, and run what it finds again. within_s: of processor time. Raises nothing of the stage's."""
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
        """End all replicas, and forget all worlds, but not what was learned about lines that draw: after NewToken."""
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
        """Return why nothing can be decided: a request alone, without a fault, must end well and do its work once."""
        horizon_ms = task.work_ms + 2 * task.ttl_ms
        found = search(self.world(task, 1), NONE, horizon_ms, limit.left_s)
        failed = next((one.finding for one in found.broken.values() if one.finding.harm is Harm.FAILED), None)
        if failed is not None:
            return Undecided.FAILS, failed.error
        if not found.complete:
            return _over(limit), "a request alone does not end"
        does_work = found.served or Claim.counts_once in found.broken
        if not does_work and task.work_ms <= task.ttl_ms:  # a lock may give up work that takes longer than its TTL
            return Undecided.NOBODY_SERVED, "it was refused" if found.refused else "it did not do its work"
        return None

    def _search(self, answer: SearchOutcome, limit: TimeLimit, on_broken: Callable[[Broken], None]) -> None:
        question = answer.question
        world = self.world(question.task, question.replicas)
        # three that split the votes of several servers may all give up: that says nothing of the lock
        world.serves = question.fits and (question.replicas == PAIR or world.program.servers == 1)
        folds, within_s = self._clients_are_alike, limit.left_s * OF_SEARCH
        found = answer.result = search(world, question.budget, question.horizon_ms, within_s, folds, on_broken)
        answer.is_moot = question.task.ends and not world.program.drawing.drew_fraction
        found.graph = None  # of many searches it would fill the memory
        if world.symmetry is not None:
            world.symmetry.forget()
        if not found.complete:
            answer.undecided = Undecided.MEMORY if found.states >= MOST_STATES else _over(limit)
            answer.detail = f"{found.states} states"
        self._run_again(world, answer, limit, folds)
        world.close()  # of the replicas that stand somewhere, many searches would fill it as well

    def _run_again(self, world: World, answer: SearchOutcome, limit: TimeLimit, folds: bool) -> None:
        """Run again what a search has found, and some schedules by chance, until the time is over. Raises Differs."""
        found, question = answer.result, answer.question
        assert found is not None  # noqa: S101 - it was searched
        for claim, broken in [one for one in found.broken.items() if one[0] not in self._confirmed]:
            if limit.left_s < 0:  # it is run again before it is reported
                break
            try:
                confirm(world, broken.events, question.horizon_ms)
                self._confirmed.add(claim)
            except (Differs, MachineStalled) as error:  # what was not seen again is not believed; the others are
                if isinstance(error, ClientsDiffer) and folds:
                    raise
                answer.disbelieve(claim, Undecided.DIFFERS if isinstance(error, Differs) else Undecided.STALLED, str(error))
        failed = next((one.finding for one in found.broken.values() if one.finding.harm is Harm.FAILED), None)
        if failed is not None:
            answer.undecided, answer.detail = answer.undecided or Undecided.FAILS, failed.error
        if not answer.is_decided:
            return
        # schedules by chance, without the tables and with other names of the clients
        number = CHECKED if question.needed else CHECKED_OF_OTHERS
        for events in random_schedules(world, question.budget, question.horizon_ms, number, SEED):
            if limit.left_s < 0:
                break
            seen = confirm(world, events, question.horizon_ms)
            if question.replicas > 1 and folds:
                check_clients(world, events, question.horizon_ms, seen)


def _over(limit: TimeLimit) -> Undecided:
    """Return why the time of a search is over: it was spent, or others took the processors."""
    cpu_s, passed_s = limit.spent_s
    return Undecided.STARVED if passed_s > cpu_s else Undecided.TIME
