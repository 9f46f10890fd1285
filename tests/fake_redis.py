"""A Redis in memory for the locks whose key is a hash of owner and count. It recognises the scripts by their commands."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PERSISTENT = -1  # PTTL of a key that does not expire


class FakeChannel:
    """A channel on which a test decides when a message comes."""

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.message = threading.Event()
        self.waited_s: list[float] = []

    def wait(self, at_most_s: float) -> None:
        self.waited_s.append(at_most_s)
        self.waiting.set()
        self.message.wait(at_most_s)


class FakeRedis:
    """The methods of the client of one Redis server that a lock calls."""

    Error = ConnectionError

    def __init__(self) -> None:
        self.holds: dict[str, dict[str, int]] = {}
        self.ttls_ms: dict[str, int] = {}
        self.messages = FakeChannel()
        self.subscriptions = self
        # the roles of the scripts that requests have run, without renewals, whose time depends on the machine
        self.ran: list[str] = []

    @contextmanager
    def channel(self, name: str) -> Iterator[FakeChannel]:
        yield self.messages

    def register_script(self, script: str) -> Callable[[list[str], list[Any]], Any]:
        role = _role(script)
        run = getattr(self, f"_{role}")

        def call(keys: list[str], args: list[Any]) -> Any:
            self.ran += [role] * (role != "renew")
            return run(script, keys[0], *args)

        return call

    def _acquire(self, script: str, key: str, owner: str, ttl_ms: int, *_: Any) -> Any:
        hold = self.holds.setdefault(key, {})
        if hold and owner not in hold:
            return self.ttls_ms[key] if "pttl" in script else 0
        hold[owner] = hold.get(owner, 0) + 1
        self.ttls_ms[key] = ttl_ms
        return None if "pttl" in script else 1

    def _renew(self, script: str, key: str, owner: str, ttl_ms: int, *_: Any) -> int:
        return int(owner in self.holds.get(key, {}))

    def _leave(self, script: str, key: str, owner: str) -> None:
        """Do nothing: there is no queue."""

    def _release(self, script: str, key: str, owner: str) -> int | None:
        hold = self.holds.get(key, {})
        if owner not in hold:
            return None
        hold[owner] -= 1
        if hold[owner]:
            return 0
        del self.holds[key]
        return 1


def _role(script: str) -> str:
    """Return the role of a script."""
    if "lrem" in script:
        return "leave"
    if "-1)" in script.rpartition("hincrby")[2]:
        return "release"
    return "acquire" if "'hincrby'" in script else "renew"
