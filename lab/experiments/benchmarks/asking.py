"""One try of Redlock at five servers: asked in turn, as document 4's code does, against all at once.

The ways: ``near``, where all five answer on this machine; ``apart``, where the way to each server takes 2 ms; ``silent``, where
one server accepts the command and never answers. There, a client without a time-out of its own for each server waits for its
usual one.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import redis

from app.endpoint import Endpoint
from app.journal import Journal
from app.settings import Settings
from app.stores.redis import Redis, client
from app.stores.redis_nodes import NODE_TIMEOUT_S, RedisNodes
from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured, pairwise, ratio
from lab.scenario import reader
from lab.servers import process
from lab.servers.stores import redis_nodes
from lab.servers.supervisor import Supervisor

WAY_S = 0.002  # about the way to another data centre of the same city, and back
USUAL_TIMEOUT_S = 3.0  # go-redis's ReadTimeout, where the client sets none
TRIES = 20  # for each sample, where all servers answer
FEW_PAIRS = 3  # each waits for the usual time-out
TTL_MS = 3000

Ask = Callable[..., list[Any]]


def measure(pairs: int) -> Iterator[Measured]:
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name, contextlib.closing(supervisor):
        programs = redis_nodes.programs(reader.load("rush"))
        running = [one.wait() for one in [process.start(one, supervisor, Path(name)) for one in programs]]
        nodes = Settings.read({}, run="bench", redis_nodes_url=redis_nodes.url(running)).redis_nodes_url
        yield _near(nodes, pairs)
        yield _apart(nodes, pairs)
        with _silent(running[0].pid):
            yield from _with_a_silent_server(nodes, pairs)


def _near(nodes: Endpoint, pairs: int) -> Measured:
    both = pairwise(pairs, lambda: tries_s(in_turn(nodes)), lambda: tries_s(at_once(nodes)))
    return _ratio("near", "all servers on this machine", RatioLimit(at_least=0.5), list(both))


def _apart(nodes: Endpoint, pairs: int) -> Measured:
    both = pairwise(pairs, lambda: tries_s(in_turn(nodes, WAY_S)), lambda: tries_s(at_once(nodes, WAY_S)))
    return _ratio("apart", f"each server {WAY_S * 1000:g} ms away", RatioLimit(at_least=2), list(both))


def _with_a_silent_server(nodes: Endpoint, pairs: int) -> Iterator[Measured]:
    """Compare with all at once, where a server is left out after its time-out."""
    timed = pairwise(pairs, lambda: tries_s(in_turn(nodes), 1), lambda: tries_s(at_once(nodes), 1))
    where = f"one server silent, and left out after {NODE_TIMEOUT_S * 1000:g} ms"
    yield _ratio("silent", where, RatioLimit(at_least=0.8), list(timed))
    usual = pairwise(min(pairs, FEW_PAIRS), lambda: tries_s(without_time_outs(nodes), 1), lambda: tries_s(at_once(nodes), 1))
    where = f"one server silent, and the client's usual {USUAL_TIMEOUT_S:g} s against {NODE_TIMEOUT_S * 1000:g} ms"
    yield _ratio("usual", where, RatioLimit(at_least=10), list(usual))


def at_once(nodes: Endpoint, way_s: float = 0) -> Ask:
    """Return a client that sends to all servers before it reads an answer."""
    asking = RedisNodes(nodes, Journal(None))

    def ask(*command: Any) -> list[Any]:
        time.sleep(way_s)  # all ways at the same time
        return asking.all(*command)

    return ask


def in_turn(nodes: Endpoint, way_s: float = 0) -> Ask:
    """Return a client that asks a server, waits for its answer, and asks the next."""
    each = [RedisNodes(Endpoint((address,)), Journal(None)) for address in nodes.addresses]

    def ask(*command: Any) -> list[Any]:
        answers = []
        for one in each:
            time.sleep(way_s)
            answers += one.all(*command)
        return answers

    return ask


def without_time_outs(nodes: Endpoint) -> Ask:
    """Return a client that asks in turn, with the time-out that a library has if nobody sets one."""
    patience = {"socket_timeout": USUAL_TIMEOUT_S, "socket_connect_timeout": USUAL_TIMEOUT_S}
    each = [client(Redis, nodes, address, **patience) for address in nodes.addresses]

    def ask(*command: Any) -> list[Any]:
        return [_answer(one, command) for one in each]

    return ask


def _answer(one: Redis, command: Sequence[Any]) -> Any:
    try:
        return one.execute_command(*command)
    except redis.RedisError as error:
        return error


def tries_s(ask: Ask, tries: int = TRIES) -> float:
    """Return how long one try takes on average: a SET at all servers, for a key that is free."""
    spent_s = 0.0
    for number in range(tries + (tries > 1)):  # the first of several makes the connections
        began_s = time.monotonic()
        answers = ask("SET", f"lab:bench:asking:{uuid4().hex}", "mine", "NX", "PX", TTL_MS)
        took_s = time.monotonic() - began_s
        if sum(one is True or one in ("OK", b"OK") for one in answers if not isinstance(one, Exception)) <= len(answers) // 2:
            raise Unmeasured(f"a try found no majority: {answers}")
        spent_s += took_s if number or tries == 1 else 0
    return spent_s / tries


@contextlib.contextmanager
def _silent(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _ratio(name: str, where: str, promise: RatioLimit, both: Sequence[tuple[float, float]]) -> Measured:
    ratios = [turn / once for turn, once in both]
    in_turn_ms, at_once_ms = (1000 * math.fsum(times) / len(times) for times in zip(*both, strict=True))
    what = f"time of one try of Redlock asked in turn, against all at once; {where}, {len(ratios)} pairs"
    remark = f"{in_turn_ms:.3g} ms in turn, {at_once_ms:.3g} ms at once"
    return ratio(f"asking {name}", what, promise, ratios, remark)
