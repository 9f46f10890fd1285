"""Redlock asked in turn, compared with all at once.

One try at five servers; document 4's code asks in turn.
The ways: ``near``, where all five answer on this machine; ``apart``, where the way to each server takes 2 ms; ``silent``, where
one server accepts the command and never answers. There, a client without a time-out of its own for each server waits for its
usual one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import redis

from app.journal import Journal
from app.settings import Endpoint
from app.stores.redis import Redis, client
from app.stores.redis_nodes import NODE_TIMEOUT_S, RedisNodes
from lab.errors import NothingShown
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, store_up

WAY_S = 0.002  # about the way to another data centre of the same city, and back
USUAL_TIMEOUT_S = 3.0  # go-redis's ReadTimeout, where the client sets none
TRIES = 20  # for each sample, where all servers answer
FEW_PAIRS = 3  # each waits for the usual time-out
TTL_MS = 3000

Ask = Callable[..., list[Any]]


def measure(pairs: int) -> Iterator[Measured]:
    with store_up("redis_nodes") as store:
        nodes = store.settings.redis_nodes_url
        turn, once = partial(in_turn, nodes), partial(at_once, nodes)
        yield _compared("near", "all servers on this machine", 0.5, pairs, turn, once)
        where = f"each server {WAY_S * 1000:g} ms away"
        yield _compared("apart", where, 2, pairs, partial(turn, WAY_S), partial(once, WAY_S))
        store.servers[0].pause()
        time_out = f"{NODE_TIMEOUT_S * 1000:g} ms"
        yield _compared("silent", f"one server silent, and left out after {time_out}", 0.8, pairs, turn, once, tries=1)
        where = f"one server silent, and the client's usual {USUAL_TIMEOUT_S:g} s against {time_out}"
        yield _compared("usual", where, 10, min(pairs, FEW_PAIRS), partial(without_time_outs, nodes), once, tries=1)
        store.servers[0].resume()


def _compared(
    name: str, where: str, at_least: float, pairs: int, turn: Callable[[], Ask], once: Callable[[], Ask], tries: int = TRIES
) -> Measured:
    """Compare two ways to ask; each sample has a client of its own."""
    both = list(pairwise(pairs, lambda: tries_s(turn(), tries), lambda: tries_s(once(), tries)))
    in_turn_ms, at_once_ms = (1000 * math.fsum(times) / len(times) for times in zip(*both, strict=True))
    what = f"time of one try of Redlock asked in turn, against all at once; {where}"
    remark = f"{in_turn_ms:.3g} ms in turn, {at_once_ms:.3g} ms at once"
    return ratio(f"asking {name}", what, RatioLimit(at_least=at_least), both, remark=remark)


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
            raise NothingShown(f"a try found no majority: {answers}")
        spent_s += took_s if number or tries == 1 else 0
    return spent_s / tries
