"""Trials of a lock on an idle Redis server. Each use of the lock has a thread of its own, because it may never come back."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import redis

from app.foreign import declared
from app.settings import Settings
from app.stores import lock_store

NAME, OTHER_NAME = "lab-looks", "lab-looks-again"  # the keys that the lock is given
# its times; none is near another, nor near its double. Another request, which asks while the lock is held, waits briefly
TTL_MS, OTHER_TTL_MS, WAIT_MS, BRIEF_MS, RETRY_MS = 3000, 8700, 11_000, 1000, 30
WITHIN_S = 2.0  # the longest time of one acquire or one release on an idle server


class CallResult(NamedTuple):
    """The end of one call of a lock: its answer (``answer``, ``granted``), its failure (``error``), or no end (``waits``)."""

    kind: str
    what: Any = None  # the answer, or the error

    @property
    def text(self) -> str:
        """Return the answer or the error in a line."""
        return (repr(self.what) if self.kind == "answer" else f"{type(self.what).__name__}: {self.what}")[:200]


class Looked(NamedTuple):
    """The results of one acquire and its release, and of another acquire while the lock was held."""

    first: CallResult
    second: CallResult = CallResult("waits")
    end: CallResult = CallResult("")  # of the whole use of the lock: an answer if it came to its end
    # the key of the lock, empty if there was none, and the rest of its TTL after passed_ms, -1 if it has none
    key: str = ""
    ttl_ms: int = 0
    passed_ms: int = 0
    is_freed: bool = False
    waited: bool = False  # whether the second acquire waited by itself

    @property
    def score(self) -> list[bool]:
        """Return how far it went: a way that works has True everywhere."""
        lasts = self.ttl_ms == -1 or self.ttl_ms > TTL_MS // 100  # -2: it expired while it was looked at
        return [self.first.kind != "error", bool(self.end.kind), bool(self.key), lasts, self.is_freed, self.end.kind == "answer"]

    @property
    def is_over(self) -> bool:
        """Return whether no other way need be tried: this one works, or does not come back."""
        return all(self.score) or "waits" in (self.first.kind, self.end.kind)


KEPT: list[CallResult] = []  # of all jobs: the end of an object can hang, and so none comes to its end


def done(job: Callable[[], Any], within_s: float = WITHIN_S) -> CallResult:
    """Return the answer of a job. The job has a thread of its own, because it may never come back."""

    def run() -> None:
        try:
            found.append(CallResult("answer", job()))
        except BaseException as error:  # noqa: BLE001 - whatever the lock raises
            found.append(CallResult("error", error))

    found = list[CallResult]()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(within_s)
    KEPT.extend(found)
    return found[0] if found else CallResult("waits", TimeoutError(f"it took more than {within_s:g} s"))


class IdleServer(dict[tuple[str, int], dict[str, Any]]):
    """The server of trials, which starts when it is needed.

    All connections of this process lead to it, whatever their address: none reaches another server.
    """

    def __init__(self, until: contextlib.ExitStack) -> None:
        self.until, self.starting, self.clients = until, threading.RLock(), list[redis.Redis | None]()
        self.came_from: set[tuple[str, int]] = set()  # the addresses in the code of the lock
        declared.LED = self  # a mapping that has each address

    @property
    def store(self) -> Any:
        """Return a client of the server."""
        with self.starting:  # threads of the module wait meanwhile
            if not self.clients:
                from lab.servers.own_redis import own_servers

                self.clients.append(None)
                (server,) = self.until.enter_context(own_servers(1))
                self.clients[0] = redis.Redis(server.host, server.port)
            return self.clients[0]

    def get(self, address: Any, _: object = None) -> dict[str, Any]:
        """Return the address of the trials' server, to which a connection is led; {} for the start's own connections to it."""
        if self.store is None:
            return {}
        here = declared.place(self.store)
        self.came_from |= {address} - {(here["host"], here["port"])}
        return here

    def lock(self, use: Any, key: str = NAME, ttl_ms: int = TTL_MS, wait_ms: int = WAIT_MS) -> Any:
        """Return the lock of one request."""
        here = declared.place(self.store)
        settings = Settings.read(environ={}, redis_url=f"{here['host']}:{here['port']}")
        return declared.declared(use)(lock_store("redis", settings), key, ttl_ms, wait_ms, RETRY_MS)

    def use(self, text: str, names: dict[str, Any], work: Callable[[], object], *lease: Any, within_s: float) -> list[CallResult]:
        """Use the lock once, by the source code ``use``. Return its answers; the last one is its end. names: for that code."""
        calls = list[CallResult]()

        def saw(answer: Any) -> bool:
            calls.append(CallResult("answer", answer))
            return True

        def granted(_: object) -> None:
            calls.append(CallResult("granted"))
            work()

        scope = names | {"saw": saw}
        exec(text, scope)  # noqa: S102 - the function that was just written
        end = done(lambda: self.lock(scope["use"], *lease).run(granted), within_s)
        return [*calls, end]

    def look(self, text: str, names: dict[str, Any], ttl_ms: int = TTL_MS, key: str = NAME, is_disturbed: bool = False) -> Looked:
        """Acquire the lock, look at the server, and release it.

        is_disturbed: another request asks for the lock meanwhile, and then the store loses it.
        """
        second, keys, times_s = CallResult("waits"), dict[bytes, tuple[bytes, int]](), [time.monotonic()]

        def look() -> None:
            nonlocal second
            keys.update({one: (self.store.dump(one), self.store.pttl(one)) for one in self.store.keys("*")})
            times_s.append(time.monotonic())
            if is_disturbed:
                second = self.use(text, names, str, key, ttl_ms, BRIEF_MS, within_s=BRIEF_MS / 1000 + 0.3)[0]
                self.store.flushall()
            times_s.append(time.monotonic())

        self.store.flushall()
        said = self.use(text, names, look, key, ttl_ms, WAIT_MS, within_s=WITHIN_S * (1 + is_disturbed))
        if len(times_s) < 3:
            return Looked(said[0])
        freed = [one for one, (value, _) in keys.items() if self.store.dump(one) != value]  # it has another value, or is gone
        freed = freed or [one for one in self.store.keys(f"*{NAME}*") if one not in keys]  # a token that is put back
        ttls_ms = dict.fromkeys(freed, -1) | {one: ttl_ms for one, (_, ttl_ms) in keys.items()}
        mine = min(freed or keys, key=lambda one: (NAME not in str(one), ttls_ms[one] < 0, len(one), one), default=b"")
        passed_ms, waited_s = int((times_s[1] - times_s[0]) * 1000), times_s[2] - times_s[1]
        shown, left_ms = mine.decode(errors="replace"), ttls_ms.get(mine, 0)
        return Looked(said[0], second, said[-1], shown, left_ms, passed_ms, bool(freed), waited_s > 0.8 * BRIEF_MS / 1000)
