"""A trial of a lock on an idle Redis server, in a process of its own: its threads and what it keeps end with that process.

The lock is acquired once. The trial tells what the acquire answered, holds the lock until it may go on, and tells how the release
ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.context import ForkProcess
from typing import Any, NamedTuple

import redis

from app.foreign import declared
from app.settings import Settings
from app.stores import lock_store

NAME, OTHER_NAME, RETRY_MS = "lab-looks", "lab-looks-again", 30  # the keys that the lock is given
WITHIN_S = 2.5  # for what one acquire or one release on an idle server takes
FREED_S = 0.3  # a thread of the lock may free it a moment later
PLAIN = (bool, int, float, str, bytes, type(None))  # answers that say what they mean
Keys = dict[str, tuple[bytes, int]]  # by key: its value, and what is left of its TTL in ms, -1 without one


class Said(NamedTuple):
    """What a lock answered (``answer``, ``granted``, ``over``), that it failed (``error``), or that nothing came (``waits``)."""

    kind: str
    text: str = ""
    # the classes of an answer or an error, as module:name, the closest first
    types: tuple[str, ...] = ()
    truth: bool = False
    is_plain: bool = True


class IdleServer(dict[tuple[str, int], dict[str, Any]]):
    """The server of trials. All connections of this process lead to it, whatever their address: none reaches another server."""

    def __init__(self, port: int) -> None:
        self.address, self.store = ("127.0.0.1", port), redis.Redis("127.0.0.1", port)
        self.settings = Settings.read(environ={}, redis_url=f"127.0.0.1:{port}")
        self.tell: Callable[[tuple[str, int]], object] = lambda _: None
        declared.LED = self  # a mapping that has each address

    def get(self, address: Any, _: object = None) -> dict[str, Any]:
        """Return where a connection leads, and tell where it was to go."""
        self.tell(address)
        return declared.place(self.store)

    def held(self) -> Keys:
        """Return the keys that are set."""
        found = {key.decode(errors="replace"): (self.store.dump(key), self.store.pttl(key)) for key in self.store.keys("*")}
        return {key: value for key, value in sorted(found.items()) if value[1] >= -1}

    def freed(self, held: Keys) -> tuple[str, ...]:
        """Return which keys have another value, or are gone, as soon as there are any."""
        until_s = time.monotonic() + FREED_S
        while True:
            now = self.held()
            freed = tuple(key for key, value in held.items() if now.get(key, (b"",))[0] != value[0])
            if freed or time.monotonic() > until_s:
                return freed
            time.sleep(0.02)


class Trial(ForkProcess):
    """One trial. Closing it ends it."""

    def __init__(self, server: IdleServer, lock: Callable[..., Any], key: str, ttl_ms: int, wait_ms: int) -> None:
        """lock: from what reports an answer, makes what makes a lock."""
        super().__init__(daemon=True)
        self.server, self.lock, self.given = server, lock, (key, ttl_ms, wait_ms, RETRY_MS)
        self.pipe, self.there = Pipe()
        self.came_from: list[tuple[str, int]] = []  # the addresses of its connections
        self.start()
        self.there.close()

    def close(self) -> None:
        """End the process."""
        self.kill()
        self.join()

    def next(self, within_s: float = WITHIN_S) -> Said:
        """Return what it says next."""
        until_s = time.monotonic() + within_s
        while self.pipe.poll(max(0.0, until_s - time.monotonic())):
            try:
                if isinstance(found := self.pipe.recv(), Said):
                    return found
            except EOFError:
                return Said("waits", "it ended its process")
            self.came_from.append(found)
        return Said("waits", f"it took more than {within_s:g} s")

    def run(self) -> None:
        """Use the lock once, in its own process, and say what happens."""
        self.server.tell = self.there.send

        def say(answer: Any, kind: str = "answer", name: str = "") -> bool:
            types = tuple(f"{one.__module__}:{one.__qualname__}" for one in type(answer).__mro__)
            text = f"{name}{answer}" if name else repr(answer)
            self.there.send(Said(kind, text[:200], types, bool(answer), isinstance(answer, PLAIN)))
            return True

        def work(_: Any) -> None:
            self.there.send(Said("granted"))
            self.there.recv()

        try:
            self.lock(say)(lock_store("redis", self.server.settings), *self.given).run(work)
            self.there.send(Said("over"))
        except BaseException as error:  # noqa: BLE001 - whatever the lock raises, also an end of its process
            say(error, "error", f"{type(error).__name__}: ")
