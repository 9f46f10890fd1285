"""Look at a lock on an idle server: what one acquire sets, how its release ends, and how a second acquire is refused."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

import redis

from app.foreign.adapter import WAIT
from app.foreign.shapes import PLAIN, Unknown
from app.foreign.wire.lane import WireLane
from app.foreign.wire.own_client import Lanes
from app.journal import Journal
from app.lock import Grant, NotAcquired, Stage
from app.settings import Settings
from app.stores import lock_store
from lab.errors import BadInput, MissingProgram, NotReady
from lab.interrupts import staying
from lab.servers.own_redis import own_servers

TTL_MS, WAIT_MS, RETRY_MS = 3000, 10_000, 30
BRIEF_MS = 1000  # the wait of an acquire that is to be refused
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step
WATCHED = "lab-watched-{}"  # with the TTL: a lock may keep an object for each key, with the TTL that it was made with
GONE = -2  # what PTTL answers of a key that is not there
WITHIN_S = 15.0  # for one acquire and one release on an idle server
# a lease in milliseconds never ends earlier than its TTL by more than the first, and on an idle server seldom later by the second
EARLY_MS, LATE_MS = 20, 300
FREED_S, LOOK_AGAIN_S = 1.0, 0.01  # so long a thread of the lock may take to free it; a TTL is longer


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
    # whether the release ended well, and the key was another one after it, or gone
    is_freed: bool = True

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
        about = WATCHED.format(ttl_ms), ttl_ms, wait_ms, RETRY_MS
        if not self.stage.worker:
            return self.stage.lock(store, *about)
        from app.foreign.wire.lock import Workers

        return Workers(self.stage, store, Journal(None)).lock(*about)

    @property
    def answer(self) -> Any:
        """Return what ``acquire`` of somebody's class answered; None of other locks."""
        return getattr(self.lock, "answer", None)

    @property
    def why(self) -> str:
        """Return why it failed, or what it did not end in time."""
        failure = self.failure
        return f"{type(failure).__name__}: {failure}" if failure else f"it took more than {WITHIN_S:.0f} s"


@contextlib.contextmanager
def idle_server() -> Iterator[Settings]:
    """Start a Redis server to look at a lock, and end it. A lock that keeps its client finds it again."""
    with own_servers(1) as (server,), staying():
        yield Settings.read(environ={}, redis_url=f"{server.host}:{server.port}")


def watched(stage: Stage, settings: Settings, ttl_ms: int = TTL_MS) -> Watched:
    """Watch one acquire, with such a TTL. A lock that sets one key of another name has that key, whatever it is given.

    Raises BadInput where the lock cannot be had on an idle server, or sets no key there; NotReady for a worker that fails.
    """
    store = _emptied(settings)
    held: dict[str, _Key] = {}
    others: list[str] = []

    def look() -> None:
        held.update(_keys(store))
        others.extend(name for name in store.info("keyspace") if name != "db0")

    one = _Request(stage, settings, (ttl_ms, WAIT_MS), look)
    one.start()
    one.join(WITHIN_S)
    if not one.worked_s:
        raise _no_grant(stage, one)
    passed_ms = ceil((one.worked_s - one.asked_s) * 1000)  # more than that of a TTL has not passed
    taken_for = getattr(one.lock, "taken_for", {})
    name = WATCHED.format(ttl_ms)
    keys = [key for key in held if name in key] or (list(held) if len(held) == 1 else [])
    if not keys:
        raise _no_key(stage, held, others, taken_for)
    freed = _freed(store, {key: held[key] for key in keys})
    key = min(freed or keys, key=lambda key: (held[key].left_ms < 0, len(key)))
    form = key.replace("{", "{{").replace("}", "}}").replace(name, "{key}")
    left_ms = held[key].left_ms
    key_ttl_ms = chosen_ms(left_ms, left_ms + passed_ms, ttl_ms) if left_ms > 0 else 0
    failure = one.why if one.failure or one.is_alive() else ""
    return Watched(form, key_ttl_ms, one.answer, taken_for, failure, not failure and bool(freed))


def waits_in_ms(stage: Stage, settings: Settings, ttl_ms: int) -> bool:
    """Look how an acquire is refused while another request holds the lock. Return whether its wait was in milliseconds.

    A lock whose refusal may be taken for a grant must not be judged by it. Raises BadInput.
    """
    hold_s = 0.8 * min(ttl_ms, TTL_MS) / 1000
    first, over = _holding(stage, settings, ttl_ms, hold_s)
    second = _asked(stage, settings, (ttl_ms, BRIEF_MS), hold_s)
    again = second
    if second.got_s and second.answer != first.answer:
        again = _asked(stage, settings, (ttl_ms, BRIEF_MS), hold_s)
    is_over = not second.is_alive() and not over.is_set()
    over.set()
    first.join(WITHIN_S)
    if getattr(second.lock, "has_own_loop", False):
        second.join(FREED_S + (BRIEF_MS + ttl_ms) / 1000)
        if second.is_alive():
            raise BadInput(f"{stage.name}: a request that waited for the lock, in an event loop of its own, waits for ever")
    if not is_over or second.ended_s > first.got_s + hold_s:
        return False  # it waits by itself: nothing is known of a refusal
    if second.got_s and second.answer != first.answer:
        third = _asked(stage, settings, (ttl_ms, WAIT_MS), WITHIN_S)
        # an answer of its own while the lock is held may be a refusal; tokens and fences have one type, and are never the same
        may_be_no = third.answer == first.answer or again.answer == second.answer or type(second.answer) is not type(first.answer)
        if may_be_no or not (isinstance(second.answer, PLAIN) or _is_false_or_true(second.answer)):
            raise BadInput(
                f"{stage.name}: while another request held the lock, acquire answered {second.answer!r:.80}, which may mean yes "
                f"or no; a grant on an idle server was answered with {first.answer!r:.80}. "
                "Let acquire return False or None, or raise an error such as NotAcquired"
            )
    if not second.got_s and not isinstance(second.failure, NotAcquired):
        raise BadInput(
            f"{stage.name}: while another request held the lock, acquire raised {second.why}. The name of an error that means no "
            "has a word such as NotAcquired, Timeout or Locked"
        )
    waits = WAIT in getattr(second.lock, "taken_for", {}).values()
    return waits and not second.got_s and second.ended_s - second.asked_s < BRIEF_MS / 2000


def ends_in_ms(stage: Stage, settings: Settings, ttl_ms: int) -> bool:
    """Return whether a lease that is not its key's TTL ends when it should. One that counts whole seconds ends before or later.

    A holder that does not release shows it. A lock that is not free after three TTLs shows nothing.
    """
    first, over = _holding(stage, settings, ttl_ms, WITHIN_S)
    second = _asked(stage, settings, (ttl_ms, 3 * ttl_ms), 3 * ttl_ms / 1000)
    over.set()
    first.join(WITHIN_S)
    least_ms, most_ms = ((second.got_s - since_s) * 1000 for since_s in (first.got_s, first.asked_s))
    return not second.got_s or (least_ms < ttl_ms + LATE_MS and most_ms > ttl_ms - EARLY_MS)


def _holding(stage: Stage, settings: Settings, ttl_ms: int, at_most_s: float) -> tuple[_Request, threading.Event]:
    """Empty the server, and let a request hold the lock. Return it, and the event that ends its work."""
    _emptied(settings)
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        over.wait(at_most_s)

    first = _Request(stage, settings, (ttl_ms, WAIT_MS), hold)
    first.start()
    held.wait(WITHIN_S)
    return first, over


def _asked(stage: Stage, settings: Settings, times_ms: tuple[int, int], at_most_s: float) -> _Request:
    """Let one more request ask for the lock, and wait for it. Its work is nothing."""
    one = _Request(stage, settings, times_ms, lambda: None)
    one.start()
    one.join(at_most_s)
    return one


def _is_false_or_true(answer: object) -> bool:
    """Return whether objects of this kind say themselves whether they are true. An Enum's class does, its members do not."""
    return any("__bool__" in vars(kind) for kind in type(answer).__mro__)


class _SeenLanes(Lanes):
    """Lanes that are looked at afterwards."""

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self.made: list[WireLane] = []

    def new(self) -> tuple[WireLane, Any]:
        lane, store = super().new()
        self.made.append(lane)
        return lane, store


def keeps_its_client(stage: Stage, settings: Settings) -> bool:
    """Return whether a lock that takes an address asks at that of an earlier request: then no lane says whose a command is."""
    _emptied(settings)
    lanes = _SeenLanes(stage, settings, lock_store(stage.store, settings, Journal(None)), Journal(None))

    def ask() -> None:
        with contextlib.suppress(Exception):  # another look has said how it fails
            lanes.lock(WATCHED.format(TTL_MS), TTL_MS, WAIT_MS, RETRY_MS).run(lambda _: None)

    for _ in range(2):
        one = threading.Thread(target=ask, daemon=True)
        one.start()
        one.join(WITHIN_S)
    return not lanes.made[-1].has_carried


def chosen_ms(least_ms: int, most_ms: int, given_ms: int) -> int:
    """Return which TTL of this range was chosen: the one that was given, or else the roundest."""
    return given_ms if least_ms <= given_ms <= most_ms else roundest_ms(least_ms, most_ms)


def roundest_ms(least_ms: int, most_ms: int) -> int:
    """Return the time of this range on the largest step: the TTL that was chosen, when a part of it has passed."""
    return next(-(-least_ms // step_ms) * step_ms for step_ms in STEPS_MS if -(-least_ms // step_ms) * step_ms <= most_ms)


class _Key(NamedTuple):
    """A key at one moment: what it has, and what is left of its TTL: at least 1 ms; -1 without one."""

    value: bytes | None
    left_ms: int


def _emptied(settings: Settings) -> redis.Redis:
    """Return a client of an idle server, on which nothing is left of another look."""
    store = redis.Redis(settings.redis_url.first.host, settings.redis_url.first.port)
    store.flushall()
    return store


def _keys(store: redis.Redis) -> dict[str, _Key]:
    """Return the keys that are set. One that expires meanwhile is left out."""
    found = sorted(store.keys("*"))
    left = {key: store.pttl(key) for key in found}
    return {key.decode(errors="replace"): _Key(store.dump(key), left[key] or 1) for key in found if left[key] != GONE}


def _freed(store: redis.Redis, held: Mapping[str, _Key]) -> list[str]:
    """Return which keys the release has changed: the lock is among them. A thread of the lock may free it a moment later."""
    until_s = time.monotonic() + FREED_S
    while True:
        now = _keys(store)
        freed = [key for key, was in held.items() if key not in now or now[key].value != was.value]
        if freed or time.monotonic() > until_s:
            return freed
        time.sleep(LOOK_AGAIN_S)


def _no_key(stage: Stage, held: Collection[str], others: Collection[str], taken_for: Mapping[str, str]) -> BadInput:
    """Say that there was no key with the name that the lock was given. others: the databases that had keys, besides the first."""
    if others:
        return BadInput(
            f"{stage.name} sets its key in {', '.join(others)} of its server. The lab sees database 0 only: let the lock use that"
        )
    none = f"{stage.name}: no key with the name that the lock was given is set while it is held."
    if held:
        return BadInput(f"{none} It set {', '.join(held)}.")
    gone = KeyGone(f"{none} It set no key.")
    gone.taken_for = taken_for
    return gone


def _no_grant(stage: Stage, one: _Request) -> BadInput | NotReady | MissingProgram:
    if isinstance(one.failure, Unknown):
        return BadInput(f"{stage.name} cannot be used: {one.failure}: module:make")
    kind = NotReady if stage.worker else BadInput
    return kind(f"{stage.name} was not granted on an idle server: {one.why}")
