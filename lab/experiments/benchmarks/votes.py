"""Redlock's random pause, compared with a fixed one.

Split votes of few contenders that begin at the same moment.
In a round, each contender wants the lock once, and all ask for the first time at the same moment. ``near`` contenders reach all
five servers at once. ``apart``, each contender reaches one server at once and the next ones ever later, and each begins with
another server: so the first votes are split. A fixed pause lets all of them ask again at the same moment.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from app.journal import Journal
from app.lock import Grant, NotAcquired
from app.locks import stage as stage_of
from app.settings import Endpoint
from app.stores.redis_nodes import RedisNodes
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, store_up
from lab.experiments.lock_benchmark import RETRY_MS
from lab.interrupts import forked
from lab.paths import HOME

FIXED, RANDOM = str(HOME / "docs/slips/no_jitter.py"), "redlock"
WAYS_MS = {"near": 0, "apart": 3}  # how much longer the way to each next server is
CONTENDERS = (3, 5)  # two cannot split five votes: one of them has three
ROUNDS = 10  # for each sample
WAIT_MS = 10_000  # who has not got the lock by then counts as served then: the true time is longer
BEGIN_IN_S = 0.03


class ContenderRound(NamedTuple):
    """One contender in one round."""

    # from the common beginning to its grant
    waited_s: float
    # how often it asked the servers for their votes
    tries: int


Round = list[ContenderRound]


@dataclass(frozen=True)
class Contender:
    """The data with which a contender's process begins."""

    nodes: Endpoint
    # the place of the server that it reaches first
    first: int
    # how much longer the way to each next server is
    way_s: float


class DistantNodes:
    """The servers for a lock, as a contender reaches them: all are asked at once, and each way has its length."""

    def __init__(self, contender: Contender) -> None:
        addresses = contender.nodes.addresses[contender.first :] + contender.nodes.addresses[: contender.first]
        self.nodes = [RedisNodes(Endpoint((address,)), Journal(None)) for address in addresses]
        self.way_s = contender.way_s
        self.pool = ThreadPoolExecutor(len(self.nodes))
        self.tries = 0

    def all(self, *command: Any) -> list[Any]:
        self.tries += command[0] == "SET"
        return list(self.pool.map(lambda place: self._ask(place, command), range(len(self.nodes))))

    def _ask(self, place: int, command: Sequence[Any]) -> Any:
        if self.way_s:
            time.sleep(place * self.way_s)
        return self.nodes[place].all(*command)[0]


def measure(pairs: int) -> Iterator[Measured]:
    with store_up("redis_nodes") as store:
        nodes = store.settings.redis_nodes_url
        for where, way_ms in WAYS_MS.items():
            for number in CONTENDERS:
                firsts = [2 * place % len(nodes.addresses) if way_ms else 0 for place in range(number)]
                with contenders([Contender(nodes, first, way_ms / 1000) for first in firsts]) as sample:
                    both = list(pairwise(pairs, lambda: sample(FIXED), lambda: sample(RANDOM)))
                yield from _compared(where, number, both)


def _compared(where: str, number: int, both: Sequence[tuple[list[Round], list[Round]]]) -> Iterator[Measured]:
    promise = RatioLimit(at_least=1.2 if WAYS_MS[where] else 0.5)  # contenders at one place may find no difference
    figures = {"first": ("time until the first contender has the lock", time_to_first), "tries": ("tries for each grant", tries)}
    for name, (what, figure) in figures.items():
        about = f"{what}, {number} contenders {where}: a fixed pause against a random one"
        yield ratio(f"votes {where} {number} {name}", about, promise, both, figure, f"pairs of {ROUNDS} rounds")


def time_to_first(rounds: Sequence[Round]) -> float:
    """Return after how many seconds the first contender of a round had the lock, on average."""
    return math.fsum(min(turn.waited_s for turn in one) for one in rounds) / len(rounds)


def tries(rounds: Sequence[Round]) -> float:
    """Return how often a contender asked for votes until it had the lock, on average."""
    turns = [turn for one in rounds for turn in one]
    return sum(turn.tries for turn in turns) / len(turns)


@contextlib.contextmanager
def contenders(each: Sequence[Contender]) -> Iterator[Callable[[str], list[Round]]]:
    """Start processes that contend, and yield a function that makes ROUNDS rounds of a stage."""
    contending = [forked(_contend, one) for one in each]
    pipes = [pipe for _, pipe in contending]
    _round(pipes, RANDOM)  # warm
    try:
        yield lambda stage: [_round(pipes, stage) for _ in range(ROUNDS)]
    finally:
        for pipe in pipes:
            pipe.send(None)
        for process, _ in contending:
            process.join()


def _round(pipes: Sequence[Connection], stage: str) -> Round:
    begin_s = time.monotonic() + BEGIN_IN_S
    for pipe in pipes:
        pipe.send((stage, begin_s))
    return [ContenderRound(*pipe.recv()) for pipe in pipes]


def _contend(contender: Contender, pipe: Connection) -> None:
    """Take part in rounds until None comes."""
    nodes = DistantNodes(contender)
    while (order := pipe.recv()) is not None:
        stage, begin_s = stage_of(order[0]), order[1]
        lock = stage.lock(nodes, "lab:bench:votes", stage.ttl_ms or 0, WAIT_MS, RETRY_MS)
        nodes.tries = 0
        time.sleep(max(0.0, begin_s - time.monotonic()))
        pipe.send((_acquired_s(lock.run) - begin_s, nodes.tries))


def _acquired_s(run: Callable[[Callable[[Grant], float]], float]) -> float:
    """Return when the lock was granted; where it never was, now."""
    try:
        return run(lambda grant: time.monotonic())
    except NotAcquired:
        return time.monotonic()
