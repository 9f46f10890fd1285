"""Small random locks: each as the source of a stage, and as what an independent search needs to know of it.

The independent search has no table, no graph, no Redis and none of the stage's code: it interprets the plan of the lock on a
dictionary, and goes through each schedule by itself. So it can be wrong in other ways than the explorer only.
"""

from __future__ import annotations

import random
import textwrap
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, replace

LOST, STOLEN, STUCK = "lost", "stolen", "stuck"


@dataclass(frozen=True)
class Plan:
    """A lock: how it is acquired and released. Most of them are wrong."""

    # set_nx: one command; look: GET, and SET where there is nothing; set: with no condition
    acquire: str
    # 0 where the key does not expire; in a command of its own where ``expires_later``
    ttl_ms: int
    expires_later: bool
    # what a request does that did not get it: wait, enter, leave
    refused: str
    # none, del, eval (compare and delete in one command), look (compare, and then delete)
    release: str
    # whether each client has a token of its own
    own_token: bool


def drawn(number: int) -> Plan:
    """Return a plan; the same for the same number."""
    chance = random.Random(number)
    ttl_ms = chance.choice((0, 2000, 3000))
    return Plan(
        acquire=chance.choice(("set_nx", "set_nx", "look", "set", "incr")),
        ttl_ms=ttl_ms,
        expires_later=bool(ttl_ms) and chance.random() < 0.3,
        refused=chance.choice(("wait", "wait", "enter", "leave")),
        release=chance.choice(("none", "del", "eval", "look")),
        own_token=chance.random() < 0.8,
    )


def bounded(plan: Plan) -> Plan:
    """Return the plan, or one that ends: waiters that change the store at each try wake each other without end."""
    return replace(plan, refused="leave") if (plan.acquire, plan.refused) == ("incr", "wait") else plan


SOURCE = textwrap.dedent(
    '''\
    """A random lock."""
    import time, uuid
    from app.lock import Grant, NotAcquired, Stage
    COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key
            self.token = str(uuid.uuid4()) if {own_token} else "1"
            self.compare = store.register_script(COMPARE)
        def run(self, work):
            while not self.entered():
                if {refused!r} == "leave":
                    raise NotAcquired(self.key, 0)
                if {refused!r} == "enter":
                    break
                time.sleep(0.03)
            else:
                if {expires_later}:
                    self.store.pexpire(self.key, {ttl_ms})
            result = work(Grant(self.key))
            self.leave()
            return result
        def entered(self):
            px = None if {expires_later} else {ttl_ms} or None
            if {acquire!r} == "incr":
                return self.store.incr(self.key) == 1
            if {acquire!r} == "look" and self.store.get(self.key) is not None:
                return False
            return self.store.set(self.key, self.token, nx={acquire!r} == "set_nx", px=px)
        def leave(self):
            if {release!r} == "eval":
                self.compare([self.key], [self.token])
            if {release!r} == "del" or ({release!r} == "look" and self.store.get(self.key) == self.token):
                self.store.delete(self.key)
    STAGE = Stage(lock=Lock, store="redis")
    '''
)


def source(plan: Plan) -> str:
    """Return the stage."""
    return SOURCE.format(**vars(plan))


# the independent search


class Stores:
    """The lock's key, with its maker and what it has left to live; and the counter."""

    def __init__(self) -> None:
        self.value: str | None = None
        self.maker, self.left_ms, self.counter = -1, 0, 0
        self.found: list[str] = []

    def set(self, client: int, value: str, ttl_ms: int) -> None:
        if self.value is None:
            self.maker = client
        self.value, self.left_ms = value, ttl_ms

    def delete(self, client: int) -> None:
        if self.value is not None and self.maker != client:
            self.found.append(STOLEN)
        self.value, self.left_ms = None, 0


def request(plan: Plan, client: int, stores: Stores) -> Generator[bool, None, None]:
    """Do one request. It stops before each command, with False; and for a nap between two tries, with True."""
    token = f"token {client}" if plan.own_token else "1"
    while not (yield from _acquire(plan, client, token, stores)):
        if plan.refused == "leave":
            return
        if plan.refused == "enter":
            break
        yield True
    else:
        if plan.expires_later:
            yield False
            stores.left_ms = plan.ttl_ms if stores.value is not None else 0
    yield False
    read = stores.counter
    yield False
    if stores.counter > read:
        stores.found.append(LOST)
    stores.counter = read + 1
    if plan.release in ("eval", "look"):
        yield False
        if stores.value != token:
            return
    if plan.release in ("del", "look"):
        yield False
    if plan.release != "none":
        stores.delete(client)


def _acquire(plan: Plan, client: int, token: str, stores: Stores) -> Generator[bool, None, bool]:
    ttl_ms = 0 if plan.expires_later else plan.ttl_ms
    yield False
    if plan.acquire == "incr":
        number = int(stores.value or 0) + 1
        stores.set(client, str(number), stores.left_ms)
        return number == 1
    if plan.acquire == "look":
        if stores.value is not None:
            return False
        yield False
    if plan.acquire == "set_nx" and stores.value is not None:
        return False
    stores.set(client, token, ttl_ms)
    return True


class OneByOne:
    """Each schedule by itself, from its start."""

    def __init__(self, plan: Plan, clients: int) -> None:
        self.plan, self.clients = plan, clients
        self.schedules = 0
        self.breaking: Counter[str] = Counter()
        self.shortest: dict[str, int] = {}
        todo: list[tuple[int, ...]] = [()]
        while todo:
            todo += self._run(todo.pop())

    def _run(self, prefix: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Run a schedule that begins so, to its end. Return the beginnings of those that leave it after that."""
        stores, branches, taken = Stores(), [], []
        running = {client: request(self.plan, client, stores) for client in range(self.clients)}
        asleep: set[int] = set()
        first: dict[str, int] = {}
        for one in running.values():
            next(one)
        while True:
            able = sorted(running.keys() - asleep)
            if able:
                client = prefix[len(taken)] if len(taken) < len(prefix) else able[0]
                branches += [(*taken, other) for other in able if other != client and len(taken) >= len(prefix)]
                self._step(running, asleep, client, stores)
            elif stores.left_ms and running:  # time passes
                client = -1
                stores.value, stores.left_ms = None, 0
                self._wake(running, asleep)
            else:
                break
            taken.append(client)
            for name in stores.found:
                first.setdefault(name, len(taken))
            stores.found.clear()
        if running:
            first.setdefault(STUCK, len(taken))
        self.schedules += 1
        self.breaking.update(first.keys())
        for name, length in first.items():
            self.shortest[name] = min(length, self.shortest.get(name, length))
        return branches

    def _step(self, running: dict, asleep: set[int], client: int, stores: Stores) -> None:  # type: ignore[type-arg]
        before = stores.value, stores.left_ms
        naps = next(running[client], None)
        if naps is None:
            del running[client]
        if before != (stores.value, stores.left_ms):
            self._wake(running, asleep)
        if naps:
            asleep.add(client)

    def _wake(self, running: dict, asleep: set[int]) -> None:  # type: ignore[type-arg]
        for one in asleep:
            next(running[one])
        asleep.clear()
