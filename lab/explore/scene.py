"""A schedule as scenes: after each event, whose the lock is, what the counter reads, and what each client does.

An observer outside sees this; no client does. Scenes are plain data: a picture is drawn from them without any server.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import redis

from app.resources import kind as resource_kind
from lab.explore.deed import Seen, of_event
from lab.explore.event import Event, letter_of, short
from lab.explore.ghosts import Why
from lab.explore.program import NUMBER, Program
from lab.explore.replay import COUNTER_DATABASE, needed, walk_in
from lab.explore.server_table import Contents, RealRedis, loading
from lab.explore.state import DEAD, PAUSED, Move, State
from lab.explore.story import lines
from lab.explore.world import World


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


def staged(
    program: Program, clients: int, events: Sequence[Event], horizon_ms: int, real: RealRedis, claim: str = ""
) -> tuple[Story, list[Move]]:
    """Run a schedule from an empty server, and return it as a story. Raises NotPossible and Stalled, as ``walk_live`` does."""
    world, moves = walk_in(program, clients, events, horizon_ms, real)
    before = start = world.start(needed(events))
    scenes = []
    for move, line in zip(moves, lines(program, moves), strict=True):
        counts = [_count(program, world.counter.contents[state.counter], real) for state in (before, move.state)]
        deed = of_event(Seen(world, before, move, *counts))
        known = program.lock_keys or frozenset()
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
                    Held(key.name.decode(errors="replace"), _owner(move.state, key.name), _until(key.ttl_ms, move.state.now_ms))
                    for key in world.lock.contents[move.state.lock]
                    if key.name in known
                ),
                counter=counts[1],
                clients=_doing(world, move.state),
                claims=tuple(dict.fromkeys(finding.claim.name for finding in move.found)),
                breaks=deed.breaks,
            )
        )
        before = move.state
    last = scenes[-1].claims if scenes else ()
    story = Story(
        stage=program.stage.name,
        schedule=short(events),
        faults=program.faults_in_words(needed(events)),
        ttl_ms=program.ttl_ms,
        work_ms=program.work_ms,
        start=_doing(world, start),
        has_lock=any(scene.lock for scene in scenes),
        scenes=tuple(scenes),
        claim=claim if claim in last else next(iter(last), ""),
        servers=program.votes.servers,
    )
    return story, moves


def _owner(state: State, key: bytes) -> str:
    owner = state.ghosts.owner(key)
    return "" if owner is None else letter_of(owner)


def _until(ttl_ms: int, now_ms: int) -> int:
    return now_ms + ttl_ms if ttl_ms else 0


def _doing(world: World, state: State) -> tuple[Doing, ...]:
    found = []
    in_store = world.program.stage.store is not None  # no other process can take away a lock inside a process
    for client, (mode, hold) in enumerate(zip(state.modes, state.ghosts.holds, strict=True)):
        over = bool(world.node(state, client).ended)
        gone = hold is not None and in_store and hold.key in world.known and state.ghosts.owner(hold.key) != client
        work = "" if hold is None else "late" if gone or hold.at(state.now_ms).why is not Why.ENTITLED else "entitled"
        name = "dead" if mode == DEAD else "paused" if mode == PAUSED else "over" if over else "runs"
        found.append(Doing(name, work))
    return tuple(found)


def _count(program: Program, contents: Contents, real: RealRedis) -> int:
    """Return what the counter reads in a state. The stage's own resource reads it, from the real server."""
    resource = resource_kind(program.stage.resource)
    real.select(COUNTER_DATABASE)
    real.send(*loading(contents))
    with redis.Redis(host=real.host, port=real.port, db=COUNTER_DATABASE, decode_responses=True) as client:
        return sum(resource(client, NUMBER).parts().values())
