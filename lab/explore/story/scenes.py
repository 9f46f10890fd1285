"""Turn a schedule into scenes: after each event, the owner of the lock, the value of the counter, and the mode of each client.

Only an observer outside sees all of this. Scenes are facts: they are put into words and drawn without any server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import redis

from app.resources import kind as resource_kind
from lab.explore.code.program import Program
from lab.explore.decision import Explorer
from lab.explore.model import NUMBER
from lab.explore.questions import Question
from lab.explore.search.event import CHOICE, CLOCK, NOBODY, RESTART, EventKind, ScheduleEvent, letter_of, short
from lab.explore.search.ghosts import OVER
from lab.explore.search.in_words import in_words, reply_in_words, source_of
from lab.explore.search.replay import Walk, needed, walk_live
from lab.explore.search.state import DEAD, PAUSED, Move, State
from lab.explore.search.world import World
from lab.explore.store.commands import SUBSCRIBING
from lab.explore.store.real_redis import loading
from lab.explore.store.table import at
from lab.explore.story.happenings import AT_ALL, DONE_TO, EventFacts, broken, of_event
from lab.story.happening import Doing, Happening, Held, Kind, Scene, Story
from lab.story.repeats import folded

FROM_OUTSIDE = CHOICE, RESTART, *DONE_TO
# by kind of event: the code of the fault that hits a command
FAULTS = {
    EventKind.FAILURE: "work_failure",
    EventKind.LOST_REPLY: "lost_reply",
    EventKind.LOST_COMMAND: "lost_command",
    EventKind.RESEND: "resend",
}


def staged(
    explorer: Explorer, question: Question, events: Sequence[ScheduleEvent], horizon_ms: int, claim: str = ""
) -> tuple[Story, Walk]:
    """Run a schedule from an empty server, and return its story and its walk. Raises NotPossible and MachineStalled.

    question: the task of the requests, and the number of replicas. claim: the claim of the story if the last event breaks it.
    """
    walk = explorer.learning(lambda: walk_live(explorer.world(question.task, question.replicas), events, horizon_ms))
    world, moves = walk.world, walk.moves
    program = world.program
    names, scenes = lock_names(world, moves), []
    owned: dict[bytes, int] = {}
    count, wrote_last = 0, NOBODY
    for move in moves:
        counts = count, counted(world, move.state.counter)
        owned_before, owned = owned, _owned(world, names, owned, move)
        facts = EventFacts(world, move, *counts, names, owned_before, owned, wrote_last)
        if move.state.counter != move.before.counter:
            wrote_last = move.event.client
        did = of_event(facts)
        is_answered = move.command is not None and move.command.words[0] not in SUBSCRIBING  # its reply is a message
        scenes.append(
            Scene(
                event=str(move.event),
                row=_row(program, move, did),
                did=did,
                lock=_held(world, move.state, names, owned),
                counter=counts[1],
                clients=_doing(world, move.state, names, owned),
                reply=reply_in_words(program, move.reply) if is_answered else "",
                source=source_of(move.command.file, move.command.line) if move.command is not None else "",
                claims=tuple(dict.fromkeys(finding.claim.name for finding in move.findings)),
                breaks=broken(facts),
                asked_in_vain=move.asked_in_vain,
            )
        )
        count = counts[1]
    last = scenes[-1].claims if scenes else ()
    story = Story(
        stage=program.stage.name,
        schedule=short(events),
        faults={name: number for name, number in needed(events)._asdict().items() if number},
        ttl_ms=program.task.ttl_ms,
        work_ms=program.task.work_ms,
        start=_doing(world, walk.start, names, {}),
        has_lock=any(scene.lock for scene in scenes),
        scenes=folded(scenes),
        claim=claim if claim in last else next(iter(last), ""),
        servers=program.servers,
    )
    return story, walk


def _row(program: Program, move: Move, did: Sequence[Happening]) -> Happening:
    """Return the happening that names an event: its command with its place, or the fault from outside."""
    event, command, at_ms = move.event, move.command, move.state.now_ms
    actor = letter_of(event.client) if event.client >= 0 else ""
    if event.kind in FROM_OUTSIDE or (command is None and event.kind in AT_ALL):
        return did[0]
    if event.kind is CLOCK:
        return Happening(Kind.CLOCK, at_ms)
    fault = FAULTS.get(event.kind, "")
    if command is None:
        kind = Kind.MESSAGE if move.reply is not None else Kind.NAP_OVER
        return Happening(kind, at_ms, actor, fault=fault, background=not event.own)
    return Happening(
        Kind.COMMAND,
        at_ms,
        actor,
        servers=(command.node,) if command.node else (),
        place=f"{Path(command.file).name}:{command.line}" if command.line else "",
        fault=fault,
        code=in_words(program, command),
        background=not event.own,
    )


def lock_names(world: World, moves: Sequence[Move]) -> frozenset[bytes]:
    """Return the names of the lock's keys: the keys that were granted, or all keys if these are not in the store."""
    contents = [world.lock.contents[move.state.lock] for move in moves]
    present = {key.name for keys in contents for key in keys}
    granted = {key.encode() for key in world.known}
    granted |= {actor.hold.key.encode() for move in moves for actor in move.state.ghosts.actors if actor.hold and actor.hold.key}
    if world.program.servers > 1:
        granted = {at(key, server) for key in granted for server in range(1, world.program.servers + 1)}
    return frozenset(granted & present or present)


def _owned(world: World, names: frozenset[bytes], owned: dict[bytes, int], move: Move) -> dict[bytes, int]:
    """Return by key of the lock the client that made the key, or that has taken it. owned: the same before the move."""
    old = {key.name: key.value for key in world.lock.contents[move.before.lock]}
    owners = {}
    for key in world.lock.contents[move.state.lock]:
        if key.name not in names:
            continue
        taken = move.state.ghosts.owner(key.name.decode(errors="replace"))
        if taken is not None and move.state.ghosts.actors[taken.actor].phase != OVER:
            owners[key.name] = taken.actor // world.task.at_once
        elif key.name in old:
            owners[key.name] = owned.get(key.name, move.event.client)
        else:
            owners[key.name] = move.event.client
    return owners


def _held(world: World, state: State, names: frozenset[bytes], owned: Mapping[bytes, int]) -> tuple[Held, ...]:
    keys = []
    for key in world.lock.contents[state.lock]:
        if key.name in names:
            owner, name = owned.get(key.name, NOBODY), key.name.decode(errors="replace")
            until_ms = state.now_ms + key.ttl_ms if key.ttl_ms else 0
            server = int(name.rpartition("@")[2]) if world.program.servers > 1 else 0
            keys.append(Held(name, letter_of(owner) if owner >= 0 else "", until_ms, server))
    return tuple(keys)


def _doing(world: World, state: State, names: frozenset[bytes], owned: dict[bytes, int]) -> tuple[Doing, ...]:
    doings = []
    in_store = world.program.stage.store is not None  # a lock inside a process cannot be taken away by others
    at_once = world.task.at_once
    for client, mode in enumerate(state.modes):
        holds = [actor.hold for actor in state.ghosts.actors[client * at_once : (client + 1) * at_once] if actor.hold]
        over = all(world.node(state, client).ended)
        gone = [hold for hold in holds if in_store and hold.key.encode() in names and owned.get(hold.key.encode()) != client]
        late = gone or [hold for hold in holds if not hold.is_entitled(state.now_ms)]
        work = "" if not holds else "late" if late else "entitled"
        name = "dead" if mode == DEAD else "paused" if mode == PAUSED else "over" if over else "runs"
        doings.append(Doing(name, work))
    return tuple(doings)


def counted(world: World, number: int) -> int:
    """Return the value of the counter in a state of its store. The stage's resource reads it, from the real server."""
    real, resource = world.counter.real, resource_kind(world.program.stage.resource)
    real.send(*loading(world.counter.contents[number]))
    with redis.Redis(host=real.host, port=real.port, decode_responses=True) as client:
        return sum(resource(client, NUMBER).parts().values())
