"""A schedule as scenes: after each event, whose the lock is, what the counter reads, and what each client does.

An observer outside sees this; no client does. Scenes are plain data: a picture is drawn from them without any server.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import redis

from app.resources import kind as resource_kind
from lab.explore.code.program import Program
from lab.explore.model import NUMBER
from lab.explore.search.event import NOBODY, Event, letter_of, short
from lab.explore.search.ghosts import OVER
from lab.explore.search.moves import started
from lab.explore.search.replay import COUNTER_DATABASE, needed, walk_live
from lab.explore.search.state import DEAD, PAUSED, Move, State
from lab.explore.search.world import World
from lab.explore.store.mariadb_words import counted
from lab.explore.store.nodes import at
from lab.explore.store.real_redis import loading
from lab.explore.story.deed import Seen, of_event
from lab.explore.story.story import lines


class Held(msgspec.Struct, frozen=True, array_like=True):
    """A key of the lock in the store."""

    name: str
    # the letter of the client that made it
    owner: str
    # until when it lives, on the clock of the search; 0 where it does not expire
    until_ms: int


def server_of(name: str) -> int:
    """Return the number of the server that has a key; 0 where the lock has one store."""
    number = name.rpartition("@")[2]
    return int(number) if "@" in name and number.isdigit() else 0


class Doing(msgspec.Struct, frozen=True, array_like=True):
    """What a client does after an event."""

    # "runs", "paused", "dead" or "over"
    mode: str
    # whether it is in its work, and whether it is entitled to the lock then: "", "entitled" or "late"
    work: str


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event, and what an observer sees after it."""

    # the short form: "A", "pA", "t3000"
    event: str
    # the letter of the client; empty for the clock and the store
    who: str
    # the command, or what happens; what the store answered; the file and line that sent the command; the text of that line
    what: str
    reply: str
    place: str
    source: str
    # what was done, as a part of a sentence that begins with the client: "gets the lock"; empty where it is not worth a word
    deed: str
    now_ms: int
    lock: tuple[Held, ...]
    counter: int
    clients: tuple[Doing, ...]
    # what the event breaks: the names of the claims, and how, as sentences
    claims: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    # of time that passes: how often waiters have asked in vain meanwhile
    asked_in_vain: int = 0


class Story(msgspec.Struct, frozen=True, omit_defaults=True):
    """A schedule, ready to be drawn."""

    stage: str
    # the short form of the schedule, and the faults that it injects, in words
    schedule: str
    faults: str
    ttl_ms: int
    work_ms: int
    # before the first event
    start: tuple[Doing, ...]
    # whether the stage has a lock in the store
    has_lock: bool
    scenes: tuple[Scene, ...]
    # the claim that the last event breaks, of all that break the one that is asked for; empty where nothing breaks
    claim: str = ""
    # of how many servers the lock's store consists; the keys of several have the number of their server: "L@3"
    servers: int = 1


def staged(world: World, events: Sequence[Event], horizon_ms: int, claim: str = "") -> tuple[Story, list[Move]]:
    """Run a schedule from an empty server, and return it as a story. Raises NotPossible and Stalled, as ``walk_live`` does."""
    made, moves = walk_live(world, events, horizon_ms)
    program = made.program
    before = start = started(made, needed(events))
    names, scenes = lock_names(made, moves), []
    owned: dict[bytes, int] = {}
    count, wrote_last = 0, NOBODY
    for move, line in zip(moves, lines(program, moves), strict=True):
        counts = count, _count(program, move.state, made)
        owned_before, owned = owned, _owned(made, names, owned, before, move)
        deed = of_event(Seen(made, before, move, *counts, names, owned_before, owned, wrote_last))
        if move.state.counter != before.counter:
            wrote_last = move.event.client
        scenes.append(
            Scene(
                event=str(move.event),
                who=line.who,
                what=line.what,
                reply=line.reply,
                place=line.place,
                source=line.source,
                deed=deed.words,
                now_ms=move.state.now_ms,
                lock=tuple(
                    Held(key.name.decode(errors="replace"), _letter(owned.get(key.name)), _until(key.ttl_ms, move.state.now_ms))
                    for key in made.lock.contents[move.state.lock]
                    if key.name in names
                ),
                counter=counts[1],
                clients=_doing(made, move.state, names, owned),
                claims=tuple(dict.fromkeys(finding.claim.name for finding in move.found)),
                breaks=deed.breaks,
                asked_in_vain=move.asked_in_vain,
            )
        )
        before, count = move.state, counts[1]
    last = scenes[-1].claims if scenes else ()
    story = Story(
        stage=program.stage.name,
        schedule=short(events),
        faults=str(needed(events)),
        ttl_ms=program.task.ttl_ms,
        work_ms=program.task.work_ms,
        start=_doing(made, start, names, {}),
        has_lock=any(scene.lock for scene in scenes),
        scenes=tuple(scenes),
        claim=claim if claim in last else next(iter(last), ""),
        servers=program.servers,
    )
    return story, moves


def lock_names(world: World, moves: Sequence[Move]) -> frozenset[bytes]:
    """Return the names of the keys that are the lock: those that grants name, or all where these are not in the store."""
    contents = [world.lock.contents[move.state.lock] for move in moves]
    there = {key.name for keys in contents for key in keys}
    granted = {key.encode() for key in world.about.known}
    granted |= {hold.key.encode() for move in moves for hold in move.state.ghosts.holds if hold is not None and hold.key}
    if world.program.servers > 1:
        granted = {at(key, server) for key in granted for server in range(1, world.program.servers + 1)}
    return frozenset(granted & there or there)


def _owned(world: World, names: frozenset[bytes], owned: dict[bytes, int], before: State, move: Move) -> dict[bytes, int]:
    """Return who made each of the lock's keys; where somebody has taken the lock of that name, it is theirs."""
    old = {key.name: key.value for key in world.lock.contents[before.lock]}
    found = {}
    for key in world.lock.contents[move.state.lock]:
        if key.name not in names:
            continue
        taken = move.state.ghosts.owner(key.name.decode(errors="replace"))
        if taken is not None and move.state.ghosts.phases[taken.actor] != OVER:
            found[key.name] = taken.actor // world.about.at_once
        elif key.name in old:
            found[key.name] = owned.get(key.name, move.event.client)
        else:
            found[key.name] = move.event.client
    return found


def _letter(owner: int | None) -> str:
    return "" if owner is None or owner < 0 else letter_of(owner)


def _until(ttl_ms: int, now_ms: int) -> int:
    return now_ms + ttl_ms if ttl_ms else 0


def _doing(world: World, state: State, names: frozenset[bytes], owned: dict[bytes, int]) -> tuple[Doing, ...]:
    found = []
    in_store = world.program.stage.store is not None  # no other process can take away a lock inside a process
    at_once = world.about.at_once
    for client, mode in enumerate(state.modes):
        holds = [hold for hold in state.ghosts.holds[client * at_once : (client + 1) * at_once] if hold is not None]
        over = all(world.node(state, client).ended)
        gone = [one for one in holds if in_store and one.key.encode() in names and owned.get(one.key.encode()) != client]
        late = gone or [one for one in holds if not one.is_entitled(state.now_ms)]
        work = "" if not holds else "late" if late else "entitled"
        name = "dead" if mode == DEAD else "paused" if mode == PAUSED else "over" if over else "runs"
        found.append(Doing(name, work))
    return tuple(found)


def _count(program: Program, state: State, world: World) -> int:
    """Return what the counter reads in a state. The stage's own resource reads it, from the real server."""
    if program.resource.in_lock_store:
        return counted(world.lock.contents[state.lock], NUMBER)
    contents, real = world.counter.contents[state.counter], world.counter.real
    resource = resource_kind(program.stage.resource)
    real.select(COUNTER_DATABASE)
    real.send(*loading(contents))
    with redis.Redis(host=real.host, port=real.port, db=COUNTER_DATABASE, decode_responses=True) as client:
        return sum(resource(client, NUMBER).parts().values())
