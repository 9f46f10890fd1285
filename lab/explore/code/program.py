"""Run the requests of one replica: increments under the stage's lock, by the code that a replica runs under load."""

from __future__ import annotations

import contextlib
import copy
import traceback
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import redis

from app.increment import Increment
from app.journal import Journal
from app.lock import Grant, Stage
from app.resources import kind as resource_kind
from app.settings import Address, Endpoint
from app.stores import redis as redis_store
from app.stores import redis_nodes
from lab.explore.code import sockets, stand_ins
from lab.explore.code.draws import ENDS, MIDDLE, Drawing
from lab.explore.code.modules import SHELF, Modules, Sources
from lab.explore.code.operation import WRONG_ANSWER, AboutToWrite, Ended, Granted, Releasing, WriteDone
from lab.explore.code.replica import Replica
from lab.explore.model import GRID_MS, KEY, NUMBER, NotExplored
from lab.scenario.requirements import REDIS_NODES, VOTED

FOR_EVER_MS = 10**9  # the wait time of a lock that may wait without a limit
RETRY_MS = 30
ASKS = 2  # refusals after which a client of several servers gives up: two clients could split the votes for ever


def servers_of(stage: Stage) -> int:
    """Return the number of servers of the lock's store."""
    return REDIS_NODES if stage.store == VOTED else 1


class Task(NamedTuple):
    """The work of the requests in one search."""

    ttl_ms: int
    work_ms: int = 0
    # how long a request waits for the lock; None for no limit
    wait_ms: int | None = None
    # whether each request takes the lock twice
    nested: bool = False
    # how many requests each replica serves at once, and how many in turn
    at_once: int = 1
    in_turn: int = 1
    # the shortest nap of a waiter between two tries: longer naps mean fewer tries, and fewer states
    nap_ms: int = GRID_MS
    # whether fractions are drawn near the ends of their range as well
    ends: bool = False


class Work(Increment):
    """The request of ``app/increment.py``. It records marks for the search instead of a journal."""

    def __init__(self, replica: Replica, number: int, resource: Any, work_ms: int, name: str) -> None:
        super().__init__(name, resource, Journal(None), work_ms)
        self.replica, self.number = replica, number

    def mark(self, mark: Any) -> None:
        self.replica.marks.append((self.number, mark))

    def work(self, grant: Grant) -> Any:
        with self.holding():
            return super().work(grant)

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Count as in the work while the block runs."""
        inside = self.replica.inside
        if self.number in inside:
            yield
            return
        inside.add(self.number)
        try:
            yield
        finally:
            inside.discard(self.number)
            self.mark(Releasing())

    def record(self, event: type, **fields: Any) -> None:
        match event.__name__:
            case "Got":
                self.mark(Granted(fields["key"], fields["fence"]))
            case "Writing":
                self.mark(AboutToWrite())
            case "Wrote":
                self.mark(WriteDone(fields["part"], fields["overwrote"] - fields["value"] + 1))


class Twice:
    """Takes the same lock twice. The work runs after the inner lock was released, while the outer lock is still held."""

    def __init__(self, outer: Any, inner: Any, request: Work) -> None:
        self.outer, self.inner, self.request = outer, inner, request

    def run(self, work: Callable[[Grant], Any]) -> Any:
        """Acquire the lock twice, release it once, run the work, release the lock again. Return the result of the work."""

        def within(outer: Grant) -> Any:
            with self.request.holding():
                self.request.mark(Granted(outer.key, outer.fence))
                self.request.replica.asking_again.add(self.request.number)
                try:
                    self.inner.run(self.got_again)
                finally:  # also after an error: the request does not wait for the lock any more
                    self.got_again()
                return work(outer)

        return self.outer.run(within)

    def got_again(self, _: Grant | None = None) -> None:
        """Record that the holder does not wait for its own lock any more."""
        self.request.replica.asking_again.discard(self.request.number)


class Program:
    """A stage, ready to be run by any number of replicas."""

    def __init__(self, stage: Stage, task: Task, servers: int | None = None) -> None:
        """Prepare a stage. servers: how many servers its lock asks; None for as many as the lab runs."""
        stand_ins.install()
        sockets.install()
        self.stage, self.task = stage, task
        self.servers = servers or servers_of(stage)
        self.asks = ASKS if self.servers > 1 else None  # None: a client asks until it has the lock
        self.path = Path(str(stage.path))
        is_on_shelf = stage.lookup == stage.name
        self.sources = Sources(self.path, f"{SHELF}.{stage.name}" if is_on_shelf else stage.name)
        self.resource = resource_kind(stage.resource)
        for host in (sockets.LOCK_HOST, sockets.COUNTER_HOST):
            _model(host)  # outside of all replicas
        # by hash, file and line: the script that this line loads if the server does not know it; empty if it does something else
        self.texts: dict[tuple[bytes, str, int], bytes] = {}
        self.drawing = Drawing()
        self.drawing.fractions = ENDS if task.ends else MIDDLE

    def modules(self) -> list[ModuleType]:
        """Return the modules of the stage, loaded in a replica."""
        replica = self._replica(0)
        replica.begin(replica.modules.load)
        return list(replica.modules.own.values())

    def start(self, number: int, at_ms: int = 0) -> Replica:
        """Return a new replica in which each request has run to its first operation. at_ms: the time on its clock."""
        replica = self._replica(number, at_ms)
        process = _Process(self, replica)
        replica.begin(*[partial(process.serve, place) for place in range(self.task.at_once)])
        return replica

    def _replica(self, number: int, at_ms: int = 0) -> Replica:
        return Replica(number, Modules(self.sources), self.drawing, self.task.nap_ms, at_ms)


class _Process:
    """The process of a replica: its copy of the stage, and its clients of the stores."""

    def __init__(self, program: Program, replica: Replica) -> None:
        self.program, self.replica = program, replica
        self.lock: Any = None

    def _load(self) -> None:
        """Load the stage, and make the clients. The replica does this first."""
        program = self.program
        stage = self.replica.modules.load().STAGE
        store: Any
        if program.servers > 1:
            addresses = [Address(sockets.NODE_HOST.format(node), sockets.PORT) for node in range(1, program.servers + 1)]
            store = redis_nodes.RedisNodes(Endpoint(scheme="redis", addresses=tuple(addresses)))
        else:
            store = _client(sockets.LOCK_HOST)
        self.resource: Any = program.resource(_client(sockets.COUNTER_HOST), NUMBER)
        self.store, self.lock = store, stage.lock

    def serve(self, place: int) -> None:
        """Serve requests one after another in one thread. place: the number of the thread."""
        for turn in range(self.program.task.in_turn):
            self._request(place, turn)

    def _request(self, place: int, turn: int) -> None:
        task, replica = self.program.task, self.replica
        arguments = KEY, task.ttl_ms, FOR_EVER_MS if task.wait_ms is None else task.wait_ms, RETRY_MS
        name = f"request {replica.number} {place} {turn}"
        ended = Ended("ok")
        try:
            if self.lock is None:
                self._load()
            work = Work(replica, place, self.resource, task.work_ms, name)
            lock = self.lock(self.store, *arguments)
            nested = Twice(lock, self.lock(self.store, *arguments), work) if task.nested else lock
            answer = work.run(lambda: nested)
            if answer.value != work.written.value:
                ended = Ended(WRONG_ANSWER, why=f"it answered with {answer.value!r}, and its work wrote {work.written.value!r}")
        except NotExplored:
            raise
        except Exception as error:  # noqa: BLE001 - an error of the lock, the resource or their client is a result, as it is under load
            ended = self._ended(error)
        replica.marks.append((place, ended))

    def _ended(self, error: BaseException) -> Ended:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        paths = self.replica.modules.paths
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in paths]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return Ended(type(error).__name__, where, str(error).partition("\n")[0])


@cache
def _model(host: str) -> Any:
    address = Address(host, sockets.PORT)
    return redis_store.client(redis_store.Redis, Endpoint((address,), "redis"), address, **redis_store.UNNAMED)


def _client(host: str) -> Any:
    """Return a client with its own connections. The rest is copied from the one client that is made for each server."""
    client = copy.copy(_model(host))
    client.connection_pool = redis.ConnectionPool(**client.connection_pool.connection_kwargs)
    return client
