"""Look at a lock on an idle server: what one acquire sets, how its release ends, and how a second acquire is refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

from app.adapter import WAIT
from app.journal import Journal
from app.lock import Grant, NotAcquired, Stage
from app.settings import Settings
from app.stores import lock_store
from lab.errors import BadInput, MissingProgram, NotReady
from lab.explore.server import servers

TTL_MS, WAIT_MS, RETRY_MS = 3000, 10_000, 30
BRIEF_MS = 1000  # the wait of an acquire that is to be refused
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step
WATCHED = "lab-watched"
GONE = -2  # what PTTL answers of a key that is not there
WITHIN_S = 15.0  # for one acquire and one release on an idle server
PLAIN = (bool, int, float, str, bytes, type(None))


class Watched(NamedTuple):
    """What one acquire and its release showed."""

    # what the lock makes of the key that it is given, as in ``lock:{key}``
    key: str = "{key}"
    # the TTL of that key; 0 where it has none
    ttl_ms: int = 0
    # what ``acquire`` of somebody's class answered; None of other locks
    answer: Any = None
    # what each of its parameters was taken for
    taken_for: Mapping[str, str] = MappingProxyType({})
    # how the release failed; empty if it did not
    failure: str = ""

    @property
    def says_yes(self) -> bool:
        """Return whether a grant is answered with something true: then what is not true is a refusal."""
        return bool(self.answer)


class KeyGone(BadInput):
    """While the lock was held, there was no key."""

    taken_for: Mapping[str, str] = MappingProxyType({})


class _Request(threading.Thread):
    """One request, in a thread of its own: a lock may wait for ever."""

    def __init__(self, stage: Stage, settings: Settings, times_ms: tuple[int, int], work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.stage, self.settings, self.times_ms, self.work = stage, settings, times_ms, work
        self.lock: Any = None
        self.failure: BaseException | None = None
        self.asked_s, self.got_s, self.worked_s, self.ended_s = time.monotonic(), 0.0, 0.0, 0.0

    def run(self) -> None:
        try:
            self.lock = self._made()
            self.lock.run(self._granted)
        except BaseException as error:  # noqa: BLE001 - the thread that waits looks at it
            self.failure = error
        self.ended_s = time.monotonic()

    def _granted(self, _: Grant) -> None:
        self.got_s = time.monotonic()
        self.work()
        self.worked_s = time.monotonic()

    def _made(self) -> Any:
        ttl_ms, wait_ms = self.times_ms
        store = lock_store(self.stage.store, self.settings, Journal(None))
        if not self.stage.worker:
            return self.stage.lock(store, WATCHED, ttl_ms, wait_ms, RETRY_MS)
        from app.wire.lock import Workers

        return Workers(self.stage, store, Journal(None)).lock(WATCHED, ttl_ms, wait_ms, RETRY_MS)

    @property
    def why(self) -> str:
        """Return why it failed, or what it did not end in time."""
        failure = self.failure
        return f"{type(failure).__name__}: {failure}" if failure else f"it took more than {WITHIN_S:.0f} s"


def watched(stage: Stage, ttl_ms: int = TTL_MS) -> Watched:
    """Watch one acquire, with such a TTL. A lock that sets one key of another name has that key, whatever it is given.

    Raises BadInput where the lock cannot be had on an idle server, or sets no key there; NotReady for a worker that fails.
    """
    if stage.store != "redis":
        return Watched()
    left: dict[str, int] = {}
    with servers(1) as (server,):
        settings = Settings.read(environ={}, redis_url=f"{server.host}:{server.port}")
        one = _Request(stage, settings, (ttl_ms, WAIT_MS), lambda: left.update(_keys(settings)))
        one.start()
        one.join(WITHIN_S)
    if not one.worked_s:
        raise _no_grant(stage, one)
    passed_ms = ceil((one.worked_s - one.asked_s) * 1000)  # more than that of a TTL has not passed
    taken_for = getattr(one.lock, "taken_for", {})
    keys = [key for key in left if WATCHED in key] or (list(left) if len(left) == 1 else [])
    if not keys:
        others = f"It set {', '.join(left)}" if left else "It set no key"
        gone = (BadInput if left else KeyGone)(
            f"{stage.name}: no key with the name that the lock was given is set while it is held. {others}."
        )
        if isinstance(gone, KeyGone):
            gone.taken_for = taken_for
        raise gone
    key = min(keys, key=len)
    form = key.replace("{", "{{").replace("}", "}}").replace(WATCHED, "{key}")
    key_ttl_ms = roundest_ms(left[key], left[key] + passed_ms) if left[key] > 0 else 0
    failure = one.why if one.failure or one.is_alive() else ""
    return Watched(form, key_ttl_ms, getattr(one.lock, "answer", None), taken_for, failure)


def waits_in_ms(stage: Stage, ttl_ms: int) -> bool:
    """Look how an acquire is refused while another request holds the lock. Return whether its wait was in milliseconds.

    A lock whose refusal cannot be taken_for from a grant must not be judged by it. Raises BadInput.
    """
    if stage.store != "redis":
        return False
    held, over, hold_s = threading.Event(), threading.Event(), 0.8 * min(ttl_ms, TTL_MS) / 1000

    def hold() -> None:
        held.set()
        over.wait(hold_s)

    with servers(1) as (server,):
        settings = Settings.read(environ={}, redis_url=f"{server.host}:{server.port}")
        first = _Request(stage, settings, (ttl_ms, WAIT_MS), hold)
        first.start()
        held.wait(WITHIN_S)
        second = _Request(stage, settings, (ttl_ms, BRIEF_MS), lambda: None)
        second.start()
        second.join(hold_s)
        is_over = not second.is_alive() and not over.is_set()
        over.set()
        first.join(WITHIN_S)
    if not is_over or second.ended_s > first.got_s + hold_s:
        return False  # it waits by itself: nothing is known of a refusal
    answer = getattr(second.lock, "answer", None)
    if second.got_s and not isinstance(answer, PLAIN) and not hasattr(type(answer), "__bool__"):
        raise BadInput(
            f"{stage.name}: while another request held the lock, acquire answered {answer!r:.80}, which may mean yes or no. "
            "Let acquire return False or None, or raise an error such as NotAcquired"
        )
    if not second.got_s and not isinstance(second.failure, NotAcquired):
        raise BadInput(
            f"{stage.name}: while another request held the lock, acquire raised {second.why}. The name of an error that means no "
            "has a word such as NotAcquired, Timeout or Locked"
        )
    waits = WAIT in getattr(second.lock, "taken_for", {}).values()
    return waits and not second.got_s and second.ended_s - second.asked_s < BRIEF_MS / 2000


def roundest_ms(least_ms: int, most_ms: int) -> int:
    """Return the time of this range on the largest step: the TTL that was chosen, when a part of it has passed."""
    return next(-(-least_ms // step_ms) * step_ms for step_ms in STEPS_MS if -(-least_ms // step_ms) * step_ms <= most_ms)


def _keys(settings: Settings) -> dict[str, int]:
    """Return what is left of each TTL, at least 1 ms; -1 where a key has none. A key that expires meanwhile is left out."""
    store: Any = lock_store("redis", settings, Journal(None))
    left = {key: store.pttl(key) for key in sorted(store.keys("*"))}
    return {key: left_ms or 1 for key, left_ms in left.items() if left_ms != GONE}


def _no_grant(stage: Stage, one: _Request) -> BadInput | NotReady | MissingProgram:
    kind = NotReady if stage.worker else BadInput
    return kind(f"{stage.name} was not granted on an idle server: {one.why}")
