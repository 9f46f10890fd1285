"""Check a certificate of ``lab explore --certificate``: python check_certificate.py FILE [--port PORT].

This is one file so that it can be copied and read by those who do not trust the lab. It imports nothing of the lab: Python's
library and a Redis are all that it needs. Its parts are what a certificate holds, the marks, what can happen, Redis, and the
file. Without --port it starts a redis-server for itself.
With --port it uses the first empty database of that server, and empties it again.

A certificate states what can happen to some clients of a lock, search by search, in lines of JSON; ``docs/certificate.md`` has
the format. For each listed state, this program works out by itself

- which events are possible: a step of each client, time, and each fault that is left;
- what each command does: a real Redis gets the keys of the state and the command, and is asked for its reply and its keys;
- the marks after it: of each request its phase, whether it is entitled to the lock, and how often it has written;
- whether the event breaks one of the claims that the certificate states (the list is in CHECKED).

What it works out must be what is listed: no event may be missing, none may be too many, and each must lead to the listed state.
What it does not check: that the code of the lock is the listed program (the lines "place" and "code"), that time passes only when
no client can do anything, and the claims that it names at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = 1
GRID_MS = 100  # a moment is a multiple of this
MOST_MS, MOST_TRIES = GRID_MS - 10, 20  # of one question to Redis
MOST_ASKED = 1000  # tries of waiters in one event of the clock
FAULTS = PAUSES, CRASHES, LOST_REPLIES, RESENDS, RESTARTS, FAILURES = range(6)
NAMES = ("pauses", "crashes", "lost replies", "commands sent twice", "restarts without data", "failures of the work")
ASKS, WORKS, RELEASES, OVER = "asks", "works", "releases", "over"
# why a request is not entitled to the lock with which it works, or that it has taken
ENTITLED, NO_LOCK, EXPIRED, UNRENEWED, PAUSED, PAUSED_LATE = "", "no lock", "expired", "unrenewed", "paused", "paused late"
SLOW, ROBBED, ROBBED_IN_RELEASE, ROBBED_BY_WAITER, LOST = "slow", "robbed", "robbed in release", "robbed by waiter", "lost"
ANSWERS = ("ok", "NotAcquired", "NotOwner", "Abandoned", "Refused")
NEVER = -1
AT_ONCE_MS = 200
LOADED = ("string", "hash", "list", "set", "zset")

Content = tuple[tuple[str, str, Any, int], ...]  # name, type, value, time to live in ms; 0 where it does not expire

# why a holder was not entitled → the claim that then breaks, where an increment is lost
EXCUSES = {
    EXPIRED: "held_to_the_end",
    UNRENEWED: "survives_a_failed_renewal",
    PAUSED: "survives_a_freeze",
    PAUSED_LATE: "survives_a_late_freeze",
    SLOW: "survives_a_slow_acquire",
    ROBBED: "releases_only_its_own",
    ROBBED_IN_RELEASE: "releases_atomically",
    ROBBED_BY_WAITER: "exclusive",
    LOST: "survives_store_restart",
}
THEFTS = (ROBBED, ROBBED_IN_RELEASE, ROBBED_BY_WAITER)
# the claims of which one breaks where a lock stays locked, or a waiter asleep: after a fault, the claim of that fault or WAKES
WAKES = "loses_no_wakeup"
UNDISTURBED = {WAKES, "waiters_may_leave", "releases_only_its_own"}
FREED = {
    *("freed_after_crash", "freed_after_failure", "freed_after_a_failed_release", "freed_after_a_lost_release"),
    *("acquires_atomically", "survives_a_lost_reply", "survives_store_restart"),
}
ADDS = "each write adds one to what the counter holds"
FREE = "a lock that nobody uses is free in time for those who wait, and nobody waits for ever"
CHECKED = {
    **dict.fromkeys(EXCUSES.values(), ADDS),
    **dict.fromkeys((*sorted(FREED), *sorted(UNDISTURBED)), FREE),
    **dict.fromkeys(("releases_only_its_own", "releases_atomically"), f"nobody deletes the key of an entitled holder; {ADDS}"),
    "exclusive": f"two are never entitled to the lock and in their work at once; {ADDS}",
    "exclusive_in_process": "so are two threads of one process",
    "counts_once": "a request writes once, and is not answered ok before",
    "serves_most_requests": "half of the requests are served, and none ends with an error",
    "answers_a_try_at_once": "a request that does not want to wait is refused within 200 ms",
    "fence_outlives_restart": "each fence that is granted is higher than all before",
    "reentrant": "a holder gets its lock again at once, and still has it when it has released the inner one",
}


class Refused(Exception):  # noqa: N818 - states what was decided
    """The certificate does not prove what it states. The message says where and why."""


# what a certificate holds


class Actor(NamedTuple):
    """One request: what its marks say. A replica's requests follow each other."""

    phase: str = ASKS
    # the keys that its commands have made, and when; or why they are gone. From its grant on, the key that it was granted
    taken: tuple[tuple[str, int | str], ...] = ()
    # in its work: the key that it was granted, the name of it in the store, until when it is entitled to it (None: for ever), and
    # why it is not any more
    key: str = ""
    stored: str = ""
    until: int | None = None
    why: str = ENTITLED
    # what has hit it since the grant: a pause, a lost renewal
    hit: str = ""
    # whether its release has begun, and the lock was its own then
    releases_own: bool | None = None
    # whether its next command writes; whether it takes its own lock again
    writing: bool = False
    again: bool = False
    # how often it wrote; how many requests its thread has served
    writes: int = 0
    turns: int = 0

    def at(self, now: int) -> str:
        """Return why it is not entitled at a moment; empty where it is."""
        if self.phase != WORKS:
            return NO_LOCK
        if self.why != ENTITLED or self.until is None or now < self.until:
            return self.why
        return self.hit or EXPIRED


class Marks(NamedTuple):
    """What the events of a schedule say about the claims."""

    actors: tuple[Actor, ...]
    # by part of the counter: why its last writer was not entitled
    last: tuple[tuple[str, str], ...] = ()
    # the highest fence; since when nobody has worked while somebody waited; for how long that may be
    fence: int = 0
    idle: int = NEVER
    bound: int = 0
    # the claim that the first fault puts to the test, where it leaves a lock behind
    attributed: str = ""
    # whether a command that was sent twice has changed the store twice
    twice: bool = False
    served: int = 0


class State(NamedTuple):
    """One state of a search."""

    # by client: where its code is; r runs, p paused, d dead
    places: tuple[int, ...]
    modes: str
    # the keys of the lock's store and of the counter's
    lock: Content
    counter: Content
    now: int
    # of each kind of fault, how many are left
    left: tuple[int, ...]
    # the threads of paused clients that have only to be resumed
    roused: tuple[tuple[int, int], ...]
    marks: Marks


class Search(NamedTuple):
    """What one search is about."""

    replicas: int
    at_once: int
    in_turn: int
    nested: bool
    work_ms: int
    ttl_ms: int
    # the TTL that the stage states; None where it has none
    lease_ms: int | None
    # how long a request waits; None for as long as it takes
    wait_ms: int | None
    until_ms: int
    faults: tuple[int, ...]
    # whether at least half of the requests must be served
    serves: bool
    holds: tuple[str, ...]
    breaks: tuple[str, ...]

    @property
    def words(self) -> str:
        """What the clients do, and which faults there can be."""
        faults = [f"{number} {name}" for number, name in zip(self.faults, NAMES, strict=True) if number]
        turns = f", each {self.at_once} at once and {self.in_turn} in turn" if self.at_once * self.in_turn > 1 else ""
        waits = "" if self.wait_ms is None else f", waits of {self.wait_ms} ms"
        nested = ", each lock taken twice" if self.nested else ""
        lease = f"a lease of {self.lease_ms} ms" if self.lease_ms is not None else "no lease"
        about = f"{self.replicas} clients{turns}, {lease}, work of {self.work_ms} ms{waits}{nested}"
        return f"{about}, until {self.until_ms} ms, {' and '.join(faults) or 'no fault'}"

    def mine(self, client: int) -> range:
        """Return the requests of a client."""
        return range(client * self.at_once, (client + 1) * self.at_once)

    def actor(self, client: int, thread: int) -> int:
        """Return the request that a thread serves; of one in the background, the first of its client."""
        return client * self.at_once + (thread if thread < self.at_once else 0)

    def start(self) -> Marks:
        """Return the marks before the first event."""
        return Marks((Actor(),) * (self.replicas * self.at_once), bound=self.ttl_ms // 3)


@dataclass
class Happened:
    """What one event did, as far as the marks depend on it."""

    kind: str
    client: int = NEVER
    # of each command at the lock's store: the client, the thread, whether it serves a request, the keys before and after
    changes: list[tuple[int, int, bool, Content, Content]] = field(default_factory=list)
    # what happened in the code: the request, and the mark
    marks: list[tuple[int, Sequence[Any]]] = field(default_factory=list)
    # a fault of a command: the request, the kind, and whether its command changed nothing
    fault: tuple[int, int, bool] | None = None


Harm = tuple[str, set[str]]  # what happened, and the claims of which one breaks with it


# the marks: what follows from an event, and what it breaks


def follow(about: Search, before: State, after: State, did: Happened) -> tuple[Marks, list[Harm]]:
    """Return the marks after an event, and the harms. The marks of ``after`` are not looked at."""
    found: list[Harm] = []
    marks = before.marks
    for one in did.changes:
        marks = _changed(about, marks, one, after.now, found)
    if did.kind == "t":
        marks = _passed(about, before, after, found)
    elif did.kind == "w":
        gone = names(before.lock)
        marks = _blaming(marks._replace(bound=_most(about, marks, 0)), "survives_store_restart")
        marks = marks._replace(actors=tuple([_without(one, gone, LOST) for one in marks.actors]))
    elif did.kind in "pk" and did.kind:
        marks = _stopped(about, marks, did)
    if did.fault is not None:
        marks = _faulted(about, marks, did.fault)
    wrote = [request for request, mark in did.marks if mark[0] == "wrote"]
    added = total(after) - total(before)
    if added and not wrote and did.kind != "w":
        found.append(("the counter changes, and no request is marked as having written", set()))
    for request, mark in did.marks:
        marks = _marked(about, marks, request, mark, after, added, found)
    used = [most - left for most, left in zip(about.faults, after.left, strict=True)]
    also = ({"survives_store_restart"} if used[RESTARTS] else set()) | ({"survives_a_lost_reply"} if marks.twice else set())
    return marks, [(text, claims | also if claims and claims != {"fence_outlives_restart"} else claims) for text, claims in found]


def names(content: Content) -> set[str]:
    """Return the names of the keys."""
    return {one[0] for one in content}


def total(state: State) -> int:
    """Return what the counter holds: the key n, or the sum of its fields."""
    value = next((one[2] for one in (*state.counter, *state.lock) if one[0] == "n"), "0")
    return sum(int(part) for _, part in value) if isinstance(value, tuple) else int(value)


def _put(marks: Marks, place: int, **values: Any) -> Marks:
    actors = list(marks.actors)
    actors[place] = actors[place]._replace(**values)
    return marks._replace(actors=tuple(actors))


def _without(actor: Actor, gone: set[str], why: str) -> Actor:
    """Return a request after keys have gone that it has taken."""
    lost = actor.phase == WORKS and actor.stored in gone and actor.why == ENTITLED and why != SLOW
    taken = tuple([(key, why if key in gone and isinstance(since, int) else since) for key, since in actor.taken])
    return actor._replace(taken=taken, why=why if lost else actor.why)


def _blaming(marks: Marks, claim: str) -> Marks:
    """Return the marks after a fault. Of several, the first counts that is no failure of the work."""
    return marks._replace(attributed=claim) if marks.attributed in ("", "freed_after_failure") else marks


def _changed(about: Search, marks: Marks, change: tuple[int, int, bool, Content, Content], now: int, found: list[Harm]) -> Marks:
    """Return the marks after a command of a client at the lock's store."""
    client, thread, own, before, after = change
    place = _sender(about, marks, client, thread, own)
    mine = marks.actors[place]
    is_release = mine.phase == RELEASES and own
    takes_anew = is_release and mine.releases_own is not None and mine.stored in names(after) - names(before)
    if is_release and mine.releases_own is None:
        mine = mine._replace(releases_own=any(isinstance(since, int) for _, since in mine.taken))
        marks = _put(marks, place, releases_own=mine.releases_own)
    if before == after:
        return marks
    was, is_now = {one[0]: one for one in before}, {one[0]: one for one in after}
    gone = was.keys() - is_now.keys()
    why = ROBBED_BY_WAITER if mine.phase == ASKS and own else ROBBED_IN_RELEASE if mine.releases_own else ROBBED
    for other, its in enumerate(marks.actors):
        if other != place and its.phase == WORKS and its.stored in gone and its.at(now) == ENTITLED:
            found.append((f"request {place} deletes the key of request {other}, which is entitled to it", {EXCUSES[why]}))
        if other != place:
            entitled = its.at(now) == ENTITLED or its.phase != WORKS
            marks = _put(marks, other, **_without(its, gone, why if entitled else SLOW)._asdict())
    grown = {key for key, one in is_now.items() if key not in was or (was[key][3] and not 0 < one[3] <= was[key][3])}
    taken = {key: since for key, since in mine.taken if key not in gone}
    if mine.phase == WORKS:
        if about.nested and own and mine.stored in gone and mine.at(now) == ENTITLED:
            found.append((f"request {place} still works, and its inner release has freed its lock", {"reentrant"}))
        if mine.stored in grown and mine.at(now) == ENTITLED and mine.until is not None and about.lease_ms is not None:
            marks = _put(marks, place, until=now + about.lease_ms)
    elif mine.phase == ASKS or takes_anew:
        marks = _put(marks, place, phase=ASKS)
        taken |= dict.fromkeys(grown, now)
    marks = _put(marks, place, taken=tuple(sorted(taken.items())))
    return marks._replace(idle=NEVER) if is_now.keys() - was.keys() else marks


def _sender(about: Search, marks: Marks, client: int, thread: int, own: bool) -> int:
    """Return the request for which a thread has sent a command: one in the background sends for a holder."""
    if own and thread < about.at_once:
        return about.actor(client, thread)
    mine = about.mine(client)
    works = [one for one in mine if marks.actors[one].phase == WORKS]
    return next(iter([*works, *[one for one in mine if marks.actors[one].phase != OVER], mine[0]]))


def _passed(about: Search, before: State, after: State, found: list[Harm]) -> Marks:
    """Return the marks after some time in which no client could do anything."""
    marks, now = before.marks, after.now
    waits = waiting(about, before)
    again = [one for one in waits if marks.actors[one].again]
    if again:
        found.append((f"request {again[0]} waits for a lock that it holds itself", {"reentrant"}))
    alive = [one for one, actor in enumerate(marks.actors) if actor.phase == WORKS and before.modes[one // about.at_once] != "d"]
    since = NEVER
    if waits and not alive and "p" not in before.modes:
        since = before.now if marks.idle == NEVER else marks.idle
        if now - since > marks.bound:
            found.append((f"nobody has worked for {now - since} ms, and request {waits[0]} waits", _late(marks)))
    gone = names(before.lock) - names(after.lock)
    actors = [_without(one, gone, SLOW) for one in marks.actors]
    actors = [one._replace(why=one.at(now)) if one.phase == WORKS else one for one in actors]
    return marks._replace(actors=tuple(actors), idle=since)


def _late(marks: Marks) -> set[str]:
    """Return the claims of which one breaks where somebody waits for too long."""
    return {marks.attributed, WAKES} if marks.attributed else set(UNDISTURBED)


def waiting(about: Search, state: State) -> list[int]:
    """Return the requests that wait for the lock, in clients that run."""
    return [
        one
        for one, actor in enumerate(state.marks.actors)
        if state.modes[one // about.at_once] == "r" and actor.phase != OVER and (actor.phase != WORKS or actor.again)
    ]


def _most(about: Search, marks: Marks, share: float) -> int:
    """Return for how long a lock that nobody uses may stay locked after a fault: a share of the TTL; 0: TTL and half a second."""
    return max(marks.bound, int(about.ttl_ms * share) if share else about.ttl_ms + 500)


def _stopped(about: Search, marks: Marks, did: Happened) -> Marks:
    """Return the marks after a pause or a crash."""
    marks = marks._replace(bound=_most(about, marks, 0))
    for place in about.mine(did.client):
        actor = marks.actors[place]
        if did.kind == "k" and actor.phase != OVER:
            marks = _blaming(marks, "acquires_atomically" if actor.phase == ASKS else "freed_after_crash")
            marks = _put(marks, place, **Actor(OVER, turns=actor.turns)._asdict())
        elif did.kind == "p" and actor.phase == WORKS:
            marks = _put(marks, place, hit=PAUSED_LATE if actor.writing else PAUSED)
        elif did.kind == "p" and actor.phase == ASKS:
            marks = _blaming(marks, "acquires_atomically")
    return marks


def _faulted(about: Search, marks: Marks, fault: tuple[int, int, bool]) -> Marks:
    """Return the marks after a fault has hit a command."""
    place, kind, in_vain = fault
    actor = marks.actors[place]
    quick = kind == RESENDS or (actor.phase == RELEASES and not in_vain)
    if kind == FAILURES:
        return _blaming(marks, "freed_after_failure")
    if kind == RESENDS:
        marks = _blaming(marks._replace(twice=marks.twice or not in_vain), "survives_a_lost_reply")
    elif actor.phase == ASKS:
        marks = _blaming(marks, "acquires_atomically")
    else:
        marks = _blaming(marks, "freed_after_a_lost_release" if quick else "freed_after_a_failed_release")
        marks = _put(marks, place, hit=actor.hit or UNRENEWED) if actor.phase == WORKS else marks
    return marks._replace(bound=_most(about, marks, 0.7 if quick else 0))


def _marked(about: Search, marks: Marks, place: int, mark: Sequence[Any], after: State, added: int, found: list[Harm]) -> Marks:
    """Return the marks after something has happened in the code of a request."""
    now, actor = after.now, marks.actors[place]
    match mark:
        case ("granted", key, fence):
            return marks if about.nested and actor.phase == WORKS else _granted(about, marks, place, key, fence, now, found)
        case ("again",) | ("got again",):
            return _put(marks, place, again=mark[0] == "again")
        case ("writing",):
            return _put(marks, place, writing=True)
        case ("wrote", part):
            last = dict(marks.last)
            why = {actor.at(now), last.get(part, ENTITLED)}
            if added != 1:
                outlasted = about.work_ms >= about.ttl_ms or after.left != about.faults
                claims = {EXCUSES[one] for one in why if one in EXCUSES and (outlasted or one not in (EXPIRED, SLOW))}
                claims = claims or {"exclusive"}
                found.append((f"request {place} writes, and the counter goes up by {added} instead of 1", claims))
            if actor.writes:
                found.append((f"request {place} writes twice", {"counts_once"}))
            last[part] = actor.at(now)
            marks = marks._replace(last=tuple(sorted(last.items())))
            return _put(marks, place, writes=actor.writes + 1, writing=False)
        case ("released",):
            if actor.at(now) == EXPIRED and not actor.writes:
                found.append((f"request {place} gives its work up after its lease has ended", {"held_to_the_end"}))
            taken = tuple([one for one in actor.taken if one[0] == actor.stored])
            released = Actor(RELEASES, taken, stored=actor.stored, writes=actor.writes, turns=actor.turns)
            return _put(marks, place, **released._asdict())
        case ("ended", how):
            return _ended(about, marks, place, how, after, found)
    raise Refused(f"there is no mark {mark!r}")


def _granted(about: Search, marks: Marks, place: int, key: str, fence: int, now: int, found: list[Harm]) -> Marks:
    actor = marks.actors[place]
    taken = dict(actor.taken)
    # where the store has another name for it, it is what the request has made last
    stored = (
        key
        if key in taken or not taken
        else max(taken, key=lambda one: (isinstance(taken[one], int), str(taken[one]).zfill(9), one))
    )
    since = taken.get(stored) if key else None
    until = since + about.lease_ms if isinstance(since, int) and about.lease_ms is not None else None
    why = (
        NO_LOCK
        if since is None
        else since
        if isinstance(since, str)
        else SLOW
        if until is not None and until <= now
        else ENTITLED
    )
    if why in THEFTS:
        found.append((f"request {place} is granted a lock that another has deleted", {EXCUSES[why]}))
    for other, its in enumerate(marks.actors):
        if other == place or not key or its.key != key or its.phase != WORKS:
            continue
        if why in (ENTITLED, NO_LOCK) and its.at(now) in (ENTITLED, NO_LOCK):
            found.append((f"request {place} gets the lock while request {other} is in its work", {"exclusive"}))
            if other // about.at_once == place // about.at_once:
                found.append((f"requests {place} and {other} of one process are in the lock at once", {"exclusive_in_process"}))
    if fence and fence <= marks.fence:
        found.append((f"the fence {fence} is granted after {marks.fence}", {"fence_outlives_restart"}))
    marks = marks._replace(fence=max(fence, marks.fence), idle=NEVER)
    kept = () if since is None else ((stored, since),)
    return _put(marks, place, phase=WORKS, taken=kept, key=key, stored=stored, until=until, why=why, hit="")


def _ended(about: Search, marks: Marks, place: int, how: str, after: State, found: list[Harm]) -> Marks:
    actor = marks.actors[place]
    if how == "ok" and not actor.writes:
        found.append((f"request {place} is answered ok, and has not written", {"counts_once"}))
    if how == "NotAcquired" and about.wait_ms == 0 and after.now > AT_ONCE_MS:
        found.append((f"request {place} does not want to wait, and is refused after {after.now} ms", {"answers_a_try_at_once"}))
    if how not in ANSWERS and after.left == about.faults:
        found.append((f"request {place} ends with {how}, although nothing was injected", {"serves_most_requests"}))
    served = how == "ok" and actor.writes > 0
    turns = actor.turns + 1
    marks = _put(marks, place, **Actor(OVER if turns == about.in_turn else ASKS, turns=turns)._asdict())
    return marks._replace(served=marks.served + served)


def at_end(about: Search, state: State) -> Iterator[Harm]:
    """Yield the harms of a state in which nothing can happen any more."""
    waits = waiting(about, state)
    if waits and state.now < about.until_ms:
        claims = {"reentrant"} if any(state.marks.actors[one].again for one in waits) else _late(state.marks)
        yield f"request {waits[0]} waits for ever", claims | ({"survives_store_restart"} if about.faults[RESTARTS] else set())
    if about.serves and not waits and 2 * state.marks.served < about.replicas * about.at_once * about.in_turn:
        yield f"only {state.marks.served} requests were served", {"serves_most_requests"}


# what can happen: worked out from a state, the program and Redis


class Way:
    """A state while an event happens to it."""

    def __init__(self, checked: Checker, before: State, kind: str = "", client: int = NEVER, fault: int = NEVER) -> None:
        self.checked, self.about, self.before = checked, checked.about, before
        self.places, self.modes, self.roused = before.places, before.modes, before.roused
        self.lock, self.counter, self.now = before.lock, before.counter, before.now
        self.left = tuple([left - (place == fault) for place, left in enumerate(before.left)])
        self.did = Happened(kind, client)

    def waits(self, modes: str = "r") -> list[tuple[int, int, bool, Any]]:
        """Return what the threads of clients in such a mode wait for: client, thread, whether it serves a request, the wait."""
        return [
            (client, thread, own, wait)
            for client, mode in enumerate(self.modes)
            if mode in modes
            for thread, (own, wait) in enumerate(self.checked.threads(client, self.places[client]))
            if wait is not None
        ]

    def able(self) -> list[tuple[int, int, bool, Any]]:
        """Return the threads that can do something, and what."""
        return [one for one in self.waits() if one[3][0] in ("send", "draw")]

    def code(self, client: int, thread: int, given: str | None) -> None:
        """Let the code go on with what it has waited for."""
        which = client, self.places[client], thread, given, self.now
        if which not in self.checked.steps:
            raise Refused(f"it does not say what the code does: client, place, thread, input, clock are {which}")
        after, marks = self.checked.steps[which]
        self.places = (*self.places[:client], after, *self.places[client + 1 :])
        self.did.marks += [(client * self.about.at_once + mark[0], mark[1:]) for mark in marks]

    def send(self, client: int, thread: int, own: bool, send: Any) -> str:
        """Let a server execute a command, and return its reply."""
        _, server, words, _ = send
        before = self.lock if server == "lock" else self.counter
        after, reply = self.checked.redis.answer(before, words)
        if server == "lock":
            self.lock = after
            self.did.changes.append((client, thread, own, before, after))
        else:
            self.counter = after
        return reply

    def stop(self, mode: str) -> Way:
        """Let the client of the event pause, die or go on."""
        client = self.did.client
        self.modes = self.modes[:client] + mode + self.modes[client + 1 :]
        return self

    def settle(self, napping: Iterable[tuple[int, int, bool, Any]]) -> None:
        """End all sleeps that are over. napping: the threads that slept between two tries until the lock's store changed."""
        for client, thread, _, wait in napping:
            if wait[0] == "nap" and self.modes[client] == "p":
                self.roused = tuple(sorted({*self.roused, (client, thread)}))
            elif wait[0] == "nap" and [one for one in self.waits() if one[:2] == (client, thread) and one[3][0] == "nap"]:
                self.code(client, thread, None)
        while due := [
            one for one in self.waits() if one[3][0] in ("wait", "nap") and one[3][1] is not None and one[3][1] <= self.now
        ]:
            self.code(*due[0][:2], None)

    def done(self, command: Any = None, reply: str | None = None) -> Possible:
        """Return the event: where it leads, and what it breaks."""
        if self.did.kind != "t":
            self.settle(Way(self.checked, self.before).waits("rp") if self.lock != self.before.lock else ())
        marks = self.before.marks
        after = State(self.places, self.modes, self.lock, self.counter, self.now, self.left, self.roused, marks)
        marks, harms = follow(self.about, self.before, after, self.did)
        return Possible(after._replace(marks=marks), harms, command, reply)


class Possible(NamedTuple):
    """An event that is possible in a state."""

    state: State
    harms: list[Harm]
    # what a server was sent, and its reply; None where nothing was sent
    command: Any = None
    reply: str | None = None


class Checker:
    """One search of a certificate."""

    def __init__(self, about: Search, redis: Redis) -> None:
        self.about, self.redis = about, redis
        self.steps: dict[tuple[int, int, int, str | None, int], tuple[int, Any]] = {}
        self.places: dict[tuple[int, int], list[tuple[bool, Any]]] = {}
        self.contents: dict[int, Content] = {}
        self.states: dict[int, State] = {}
        self.edges: dict[int, dict[str, tuple[int, Any, str | None]]] = {}

    def threads(self, client: int, place: int) -> list[tuple[bool, Any]]:
        """Return what each thread waits for at a place of the code."""
        if (client, place) not in self.places:
            raise Refused(f"place {place} of client {client} is not in it")
        return self.places[client, place]

    def check(self) -> None:
        """Check the graph. Raises Refused."""
        clients = range(self.about.replicas)
        begins = State((NEVER,) * len(clients), "r" * len(clients), (), (), 0, self.about.faults, (), self.about.start())
        way = Way(self, begins)
        for client in clients:
            way.code(client, 0, None)
        marks, harms = follow(self.about, begins, begins, way.did)
        self._harmless("the start", harms)
        if self.states.get(0) != begins._replace(places=way.places, marks=marks):
            raise Refused("state 0 is not the start")
        for number, state in self.states.items():
            try:
                self._check_one(state, self.edges.pop(number, {}))
            except Refused as why:
                raise Refused(f"state {number}: {why}") from None
        if self.edges:
            raise Refused(f"edges begin in a state that is not listed: {min(self.edges)}")

    def _check_one(self, state: State, listed: dict[str, tuple[int, Any, str | None]]) -> None:
        """Check a state and the edges that begin in it."""
        possible = dict(self.possible(state))
        missing, more = sorted(possible.keys() - listed.keys()), sorted(listed.keys() - possible.keys())
        if missing or more:
            raise Refused(f"not listed but possible is {missing}, listed but not possible {more}")
        for event, one in possible.items():
            to, command, reply = listed[event]
            if (command, reply) != (one.command, one.reply):
                raise Refused(f"{event}: {one.command} is answered {one.reply!r}, and listed is {command} with {reply!r}")
            if to not in self.states:
                raise Refused(f"{event}: it leads to a state that is not listed")
            for name, mine, its in zip(State._fields, one.state, self.states[to], strict=True):
                if mine != its:
                    what = f"{name} is {mine!r}, and listed is {its!r}"
                    raise Refused(f"{event}: it leads to another state than the listed one: {what}")
            self._harmless(event, one.harms)
        if not possible:
            self._harmless("the end", at_end(self.about, state))

    def _harmless(self, event: str, harms: Iterable[Harm]) -> None:
        for text, claims in harms:
            if not claims & set(self.about.breaks):
                raise Refused(f"{event}: {text}; that breaks {' or '.join(sorted(claims)) or 'the certificate'}")

    def possible(self, state: State) -> Iterator[tuple[str, Possible]]:
        """Yield all events that are possible in a state."""
        able = Way(self, state).able()
        for client, thread, own, wait in able:
            name = chr(ord("A" if own else "a") + client) + (f"'{thread}" if thread != (not own) else "")
            if wait[0] == "send":
                yield from self._sent(state, client, thread, own, wait, name)
            for value in range(wait[1]) if wait[0] == "draw" else ():
                way = Way(self, state, "", client)
                way.code(client, thread, f"={value}")
                yield f"{name}={value}", way.done()
        if not able:
            yield from self._clock(state)
        for client, mode in enumerate(state.modes):
            yield from self._faults(state, client, mode, chr(ord("A") + client))
        if state.left[RESTARTS] and state.lock and not self._all_over(state):
            way = Way(self, state, "w", fault=RESTARTS)
            way.lock = ()
            yield "w", way.done()

    def _sent(self, state: State, client: int, thread: int, own: bool, send: Any, name: str) -> Iterator[tuple[str, Possible]]:
        """Yield what can happen to a command that was sent: it is executed, or a fault hits it."""
        place, words = self.about.actor(client, thread), send[2]

        def lost(kind: str, fault: int, executed: bool = False) -> Possible:
            way = Way(self, state, kind, client, fault)
            if executed:
                way.send(client, thread, own, send)
            way.did.fault = place, fault, way.lock == state.lock
            way.code(client, thread, "LOST")
            return way.done(words, "LOST")

        way = Way(self, state, "", client)
        reply = way.send(client, thread, own, send)
        changes = way.lock != state.lock
        way.code(client, thread, reply)
        yield name, way.done(words, reply)
        if send[1] == "counter":
            takes_time = self.about.work_ms > 0  # then the work fails at its write, else at its read
            if state.left[FAILURES] and state.marks.actors[place].writing is takes_time:
                yield f"f{name}", lost("f", FAILURES)
            return
        if state.left[LOST_REPLIES]:
            yield f"l{name}", lost("l", LOST_REPLIES, executed=True)
            if changes:
                yield f"d{name}", lost("d", LOST_REPLIES)
        if state.left[RESENDS]:
            way = Way(self, state, "x", client, RESENDS)
            way.send(client, thread, own, send)
            once = way.lock
            reply = way.send(client, thread, own, send)
            way.did.fault = place, RESENDS, way.lock == once
            way.code(client, thread, reply)
            yield f"x{name}", way.done(words, reply)

    def _faults(self, state: State, client: int, mode: str, letter: str) -> Iterator[tuple[str, Possible]]:
        """Yield what can be done to a client: it is paused, goes on, or dies."""
        if mode == "p":
            way = Way(self, state, "r", client).stop("r")
            way.roused = tuple([one for one in state.roused if one[0] != client])
            for its, thread in state.roused:
                if its == client:
                    way.code(client, thread, None)
            yield f"r{letter}", way.done()
        elif mode == "r" and not self._is_over(state, client):
            if state.left[PAUSES]:
                yield f"p{letter}", Way(self, state, "p", client, PAUSES).stop("p").done()
            if state.left[CRASHES]:
                way = Way(self, state, "k", client, CRASHES).stop("d")
                way.places = (*way.places[:client], 0, *way.places[client + 1 :])
                yield f"k{letter}", way.done()

    def _is_over(self, state: State, client: int) -> bool:
        return all(state.marks.actors[one].phase == OVER for one in self.about.mine(client))

    def _all_over(self, state: State) -> bool:
        return all(mode == "d" or self._is_over(state, client) for client, mode in enumerate(state.modes))

    def _clock(self, state: State) -> Iterator[tuple[str, Possible]]:
        """Yield what the clock does: it moves to the next deadline. What waiters ask in vain until then is a part of it."""
        if self._all_over(state) or state.now >= self.about.until_ms:
            return
        way = Way(self, state, "t")
        moments = [wait[1] for *_, wait in way.waits() if wait[0] == "wait" and wait[1] is not None and wait[1] > state.now]
        moments += [state.now + one[3] for one in state.lock if one[3]]
        until = min(moments, default=self.about.until_ms + 1)
        if until > self.about.until_ms:
            if not waiting(self.about, state):
                return
            until = self.about.until_ms
        asked = 0
        while True:
            then = min([until, *[wait[1] for *_, wait in way.waits() if wait[0] == "nap"]])
            before, napping = way.lock, way.waits("rp")
            way.lock, way.now = later(way.lock, then - way.now), then
            way.settle(napping if way.lock != before else ())
            if then == until or (number := self._asked(way, MOST_ASKED - asked)) is None:
                break
            asked += number
        yield f"t{way.now}", way.done()

    def _asked(self, way: Way, most: int) -> int | None:
        """Let all who are awake ask in vain, and return how often; None, and nothing is done, where anything else happens."""
        places, number = way.places, 0
        if way.did.marks:
            return None
        while able := way.able():
            client, thread, _, wait = able[0]
            store = way.lock if wait[1] == "lock" else way.counter
            after, reply = self.redis.answer(store, wait[2]) if wait[0] == "send" and number < most else (None, "")
            if after == store:
                way.code(client, thread, reply)
            if after != store or way.did.marks:
                way.places, way.did.marks = places, []
                return None
            number += 1
        return number


def later(content: Content, passed: int) -> Content:
    """Return the keys after some time."""
    return tuple([(*one[:3], one[3] and one[3] - passed) for one in content if not one[3] or one[3] > passed])


# Redis


READ = """
local found = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
    local kind, value, left_ms = redis.call('TYPE', name).ok, '', redis.call('PTTL', name)
    if kind == 'string' then value = redis.call('GET', name) end
    if kind == 'hash' then value = redis.call('HGETALL', name) end
    if kind == 'list' then value = redis.call('LRANGE', name, 0, -1) end
    if kind == 'set' then value = redis.call('SMEMBERS', name) end
    if kind == 'zset' then value = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') end
    -- a key that has a few milliseconds to live has ended
    if left_ms < 0 or left_ms > 5 then table.insert(found, {name, kind, value, left_ms}) end
end
return found
"""


class Redis:
    """A real Redis: which reply and which keys follow from some keys and a command."""

    def __init__(self, address: str | tuple[str, int], own: bool) -> None:
        if isinstance(address, str):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(address)
        else:
            self._socket = socket.create_connection(address)
        self._stream = self._socket.makefile("rwb")
        self._known: dict[Any, tuple[Content, str]] = {}
        database = 0
        while not own and self.send([("DBSIZE",)])[0][1]:
            database += 1
            if self.send([("SELECT", database)])[0][1] != b"OK":
                raise Refused("each database of this Redis has keys: give another --port, or none")

    def close(self) -> None:
        """Empty the database, and close the connection."""
        self.send([("FLUSHDB",)])
        self._stream.close()
        self._socket.close()

    def send(self, commands: Sequence[Sequence[Any]]) -> list[tuple[bytes, Any]]:
        """Send commands, and return each reply: as it came, and what it says."""
        for words in commands:
            parts = [str(word).encode("latin-1") for word in words]
            self._stream.write(b"*%d\r\n" % len(parts) + b"".join([b"$%d\r\n%b\r\n" % (len(one), one) for one in parts]))
        self._stream.flush()
        return [_reply(self._stream) for _ in commands]

    def load(self, script: str) -> None:
        """Let the server know a script of the lock."""
        self.send([("SCRIPT", "LOAD", script)])

    def answer(self, content: Content, words: Sequence[str]) -> tuple[Content, str]:
        """Return the keys and the reply after a command."""
        which = content, tuple(words)
        if which not in self._known:
            self._known[which] = self._asked(*which)
        return self._known[which]

    def _asked(self, content: Content, words: Sequence[str]) -> tuple[Content, str]:
        sent = [("MULTI",), *_commands(words), ("EXEC",)] if words[0] == "TRANSACTION" else [words]
        for _ in range(MOST_TRIES):
            began = time.monotonic()
            *_, (raw, value), (_, keys) = self.send([("FLUSHDB",), *_loading(content), *sent, ("EVAL", READ, 0)])
            if (time.monotonic() - began) * 1000 < MOST_MS:
                if words[0] == "PTTL" and isinstance(value, int) and value > 0:  # the time that a command takes does not count
                    raw = b":%d\r\n" % _on_grid(value)
                return as_content(keys), raw.decode("latin-1")
        raise Refused(f"this machine is too slow: {words[0]} took {MOST_MS} ms, each of {MOST_TRIES} times")


def _commands(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the commands of a transaction: each follows its length."""
    place = 1
    while place < len(words):
        after = place + 1 + int(words[place])
        yield words[place + 1 : after]
        place = after


def _loading(content: Content) -> Iterator[Sequence[Any]]:
    for name, kind, value, ttl in content:
        pairs = [part for pair in value for part in pair] if kind in ("hash", "zset") else []
        match kind:
            case "string":
                yield "SET", name, value
            case "hash":
                yield "HSET", name, *pairs
            case "zset":
                yield "ZADD", name, *[part for member, score in value for part in (score, member)]
            case "list" | "set":
                yield "RPUSH" if kind == "list" else "SADD", name, *value
            case _:
                raise Refused(f"the key {name} is a {kind}: there is no way to load it")
        if ttl:
            yield "PEXPIRE", name, ttl


def as_content(keys: Any) -> Content:
    """Return the keys as a certificate has them."""
    found = []
    for name, kind, value, ttl in keys:
        text = _text(value)
        if kind in (b"hash", b"zset"):
            pairs = zip(text[::2], text[1::2], strict=True)
            text = tuple(sorted(pairs)) if kind == b"hash" else tuple(pairs)
        elif kind == b"set":
            text = tuple(sorted(text))
        found.append((name.decode("latin-1"), kind.decode(), text, max(0, _on_grid(ttl))))
    return tuple(sorted(found))


def _text(value: Any) -> Any:
    return tuple(map(_text, value)) if isinstance(value, list) else value.decode("latin-1")


def _on_grid(duration: int) -> int:
    return -(-duration // GRID_MS) * GRID_MS


def _reply(stream: Any) -> tuple[bytes, Any]:
    """Return one reply of Redis: as it came, and what it says."""
    line = stream.readline()
    if not line:
        raise ConnectionError("Redis has closed the connection")
    kind, rest = line[:1], line[1:-2]
    if kind == b":":
        return line, int(rest)
    if kind == b"$" and rest != b"-1":
        body = stream.read(int(rest) + 2)
        return line + body, body[:-2]
    if kind == b"*" and rest != b"-1":
        parts = [_reply(stream) for _ in range(int(rest))]
        return line + b"".join(raw for raw, _ in parts), [value for _, value in parts]
    return line, rest if kind in b"+-" else None


@contextlib.contextmanager
def own_server() -> Iterator[str]:
    """Start a Redis for the check alone, and end it. Yield the path of its socket."""
    program = shutil.which("redis-server")
    if program is None:
        raise Refused("there is no redis-server on the PATH: give the --port of one")
    with tempfile.TemporaryDirectory(prefix="check-certificate-") as folder:
        path = f"{folder}/redis.sock"
        options = ("--port", "0", "--unixsocket", path, "--save", "", "--dir", folder, "--daemonize", "no")
        process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            for _ in range(1000):  # the file of a socket is there before the server listens at it
                with socket.socket(socket.AF_UNIX) as one:
                    if one.connect_ex(path) == 0 or process.poll() is not None:
                        break
                time.sleep(0.01)
            yield path
        finally:
            process.terminate()
            process.wait()


# the file


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def check(path: Path, redis: Redis) -> Iterator[str]:
    """Check a certificate, and yield a line for each search. Raises Refused."""
    with path.open(encoding="utf-8") as lines:
        header = json.loads(next(lines, "null"))
        if not isinstance(header, list) or header[0] != "certificate" or header[1].get("format") != FORMAT:
            raise Refused(f"{path} is no certificate of format {FORMAT}")
        for script in header[1]["scripts"]:
            redis.load(script)
        yield f"{header[1]['stage']}: {header[1]['searches']} searches, Redis {header[1]['redis']} then"
        checker, done = None, list[Search]()
        for place, line in enumerate(lines, 2):
            what, *rest = json.loads(line)
            if what == "search":
                checker = Checker(Search(**{name: _frozen(value) for name, value in rest[0].items()}), redis)
            elif checker is None:
                raise Refused(f"line {place} belongs to no search")
            elif what == "end":
                if (len(checker.states), sum(map(len, checker.edges.values()))) != tuple(rest):
                    raise Refused(f"line {place}: {rest[0]} states and {rest[1]} edges are stated, and others are listed")
                checker.check()
                yield _said(checker, *rest)
                done.append(checker.about)
                checker = None
            else:
                _take(checker, what, _frozen(rest), rest, place)
    if checker is not None or len(done) != header[1]["searches"] or not done:
        raise Refused(f"it ends too early: it states {header[1]['searches']} searches, and has {len(done)}")
    yield from _promises(header[1]["promises"], done)


def _promises(promises: Sequence[str], done: Sequence[Search]) -> Iterator[str]:
    """Yield what is proved of the stated promises. Raises Refused for one that no search states to hold."""
    holds = {claim for one in done for claim in one.holds}
    left_open = {claim for one in done for claim in (*one.breaks, *_shared(one))}
    if unproved := [one for one in promises if one not in holds]:
        raise Refused(f"it states that these promises hold, and no search of it shows that: {', '.join(unproved)}")
    yield f"Promises that hold in all searches: {', '.join(one for one in promises if one in CHECKED and one not in left_open)}"
    if left := [one for one in promises if one not in CHECKED or one in left_open]:
        yield f"Promises that are not checked in all searches: {', '.join(left)}"


def _shared(about: Search) -> list[str]:
    """Return the claims that are stated to hold, and are another claim than one that breaks."""
    breaks = set(about.breaks)
    groups = [UNDISTURBED, *({one, WAKES} for one in FREED)]
    return [one for one in about.holds if one not in breaks and any(one in group and group & breaks for group in groups)]


def _take(checker: Checker, what: str, rest: Any, raw: Any, line: int) -> None:
    """Take one line of a search."""
    match what:
        case "content":
            checker.contents[rest[0]] = rest[1]
        case "place":
            checker.places[rest[0], rest[1]] = raw[2]
        case "code":
            client, before, thread, given, now, after, marks = rest
            if (client, before, thread, given, now) in checker.steps:
                raise Refused(f"line {line}: the code does two things with one input")
            checker.steps[client, before, thread, given, now] = after, marks
        case "state":
            number, places, modes, lock, counter, *others, (actors, *marks) = rest
            if number in checker.states:
                raise Refused(f"line {line}: state {number} is listed twice")
            stores = checker.contents[lock], checker.contents[counter]
            of_actors = tuple([Actor(*one) for one in actors])
            now, left, roused = others
            checker.states[number] = State(places, modes, *stores, now, left, roused, Marks(of_actors, *marks))
        case "edge":
            number, event, *edge = raw
            if event in checker.edges.setdefault(number, {}):
                raise Refused(f"line {line}: {event} in state {number} is listed twice")
            checker.edges[number][event] = tuple(edge)
        case _:
            raise Refused(f"line {line}: there is no kind of line {what!r}")


def _said(checker: Checker, states: int, edges: int) -> str:
    """Return what was checked of a search."""
    holds, breaks, shared = checker.about.holds, set(checker.about.breaks), _shared(checker.about)
    about = {
        "holds": [one for one in holds if one in CHECKED and one not in shared],
        "breaks, and is not promised": sorted(breaks),
        "the same harm as of what breaks": shared,
        "not checked": [one for one in holds if one not in CHECKED],
    }
    said = [f"{what}: {', '.join(claims)}" for what, claims in about.items() if claims]
    return "; ".join([f"{checker.about.words}: {states} states, {edges} edges", *said])


def main() -> int:
    """Check the certificate that the command line names. Return 0 if it is right, and 1 if it is refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, help="of a Redis; without it, a redis-server is started")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(own_server()) if given.port is None else (given.host, given.port)
            redis = Redis(address, own=given.port is None)
            stack.callback(redis.close)
            for line in check(given.file, redis):
                print(line, flush=True)
        except Refused as why:
            print(f"REFUSED: {why}")
            return 1
        except (OSError, ValueError, LookupError, TypeError) as error:
            print(f"REFUSED: it cannot be read or checked: {type(error).__name__}: {error}")
            return 1
    print("The certificate is right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
