"""Make small random locks, most of them wrong, as sources of stages."""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Plan:
    """How a random lock is acquired and released."""

    # set_nx: one command; look: GET, and SET if there is no key; set: without a condition; incr: granted if the answer is 1
    acquire: str
    # 0 if the key does not expire; set by a command of its own if ``expires_later``
    ttl_ms: int
    expires_later: bool
    # what a refused request does: wait, enter or leave
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
    """Return the plan; waiters that change the store at each try would wake each other without end, so they leave instead."""
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
    """Return the source of a plan's stage."""
    return SOURCE.format(**vars(plan))
