"""A schedule as a scenario: the same fault at the same moment of a request, but under load, where the order is left to chance.

A failpoint is a moment of one request: its phase, and what it has sent in that phase. So a scenario can have one fault of a
schedule, or work that takes longer than the TTL. It cannot make two requests wait for each other. What it cannot express is
stated, and nothing is written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from app.failpoints import ACQUIRE, AFTER_FIRST, BEFORE, BEFORE_LAST, READ, RELEASE, RENEW, THINK, WRITE
from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.schedule import Schedule
from lab.explore.search.event import (
    CHOICE,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    NONE,
    PAUSE,
    RESEND,
    RESTART,
    SPENDS,
    ScheduleEvent,
)
from lab.explore.search.moves import moves, started
from lab.explore.search.replay import Walk
from lab.explore.search.state import State
from lab.explore.search.world import World

# by the kind of an event: the fault of a scenario
KINDS = {
    PAUSE: "freeze",
    CRASH: "kill",
    LOST_REPLY: "drop_reply",
    LOST_COMMAND: "fail_command",
    RESEND: "lose_reply",
    RESTART: "restart_redis",
}
SKIP = 3  # the first requests show the replicas how many commands a request has
# by what is injected: the load, and the times in milliseconds; the TTL is scaled down from the documents' 3 s
OPTIONS: dict[str, dict[str, int | float]] = {
    "freeze": {"requests": 60, "users": 12, "replicas": 3, "ttl_ms": 300, "work_ms": 10},
    "kill": {"requests": 40, "users": 10, "replicas": 3, "ttl_ms": 500, "wait_ms": 1500, "work_ms": 5},
    "drop_reply": {"requests": 40, "users": 10, "replicas": 3, "ttl_ms": 500, "wait_ms": 4000, "work_ms": 5},
    "fail_command": {"requests": 40, "users": 10, "replicas": 3, "ttl_ms": 500, "wait_ms": 4000, "work_ms": 5},
    "lose_reply": {"requests": 40, "users": 10, "replicas": 3, "ttl_ms": 600, "wait_ms": 2000, "work_ms": 5},
    "restart_redis": {"requests": 100, "rate": 80.0, "replicas": 3, "ttl_ms": 3000, "work_ms": 20},
    "": {"requests": 9, "users": 9, "replicas": 3, "ttl_ms": 300, "work_ms": 450, "wait_ms": 30_000},
}
FOR_MS = {"freeze": 900, "restart_redis": 600}  # three TTLs; what a store needs to start again
TITLES = {
    "freeze": "A request is stopped at {}",
    "kill": "A process dies at {}",
    "drop_reply": "A reply is lost at {}",
    "fail_command": "A command is lost at {}",
    "lose_reply": "A command is sent twice at {}",
    "restart_redis": "The store restarts at {}",
    "": "The work takes longer than the TTL",
}


class NotExpressible(Exception):  # noqa: N818 - states what is so
    """No scenario can express the schedule. The message states the reason."""


def as_scenario(walk: Walk, schedule: Schedule, alone: Counter[str], has_ttl: bool, how: str) -> str:
    """Return the TOML text of a scenario. Raises NotExpressible.

    alone: how many commands a request sends in each phase. how: how the schedule breaks its claim, in words.
    """
    kind, at = _fault(walk, schedule, alone)
    options = {name: value for name, value in OPTIONS[kind].items() if has_ttl or name != "ttl_ms"}
    danger = "outlasted_ttl" if not kind else "faults_past_ttl" if kind == "freeze" and has_ttl else "faults"
    lines = [
        f"# From the schedule {schedule.stage.rpartition('/')[2]}:{schedule.events} of `lab explore`: {how}.",
        f"title = {json.dumps(TITLES[kind].format(at))}",
        f"tests = {json.dumps(schedule.claim)}",
        *(f"{name} = {value}" for name, value in options.items()),
        "",
        "[danger]",
        f"{danger} = 1",
    ]
    if kind:
        lines += ["", "[[faults]]", f'kind = "{kind}"', f'at = "{at}"']
        lines += [f"for_ms = {FOR_MS[kind]}"] if kind in FOR_MS else []
        lines += [f"skip = {SKIP}"]
    return "\n".join(lines) + "\n"


def _fault(walk: Walk, schedule: Schedule, alone: Counter[str]) -> tuple[str, str]:
    """Return the fault and its failpoint; both empty for work that takes longer than the TTL. Raises NotExpressible."""
    events = [move.event for move in walk.moves]
    if any(event.node for event in events):
        raise NotExpressible("its events are at single servers, and a failpoint is a moment between two commands to all of them")
    injected = [place for place, event in enumerate(events) if event.kind in SPENDS]
    if any(event.kind is FAILURE for event in events):
        raise NotExpressible("the work fails in it; the scenario work_fails has that fault for all stages")
    if schedule.at_once > 1 or schedule.in_turn > 1 or schedule.nested:
        raise NotExpressible("it needs several requests of one replica, or a lock that is taken twice")
    if any(event.kind is CHOICE for event in events):
        raise NotExpressible("it depends on random numbers")
    if len(injected) > 1 or (injected and schedule.work_ms > schedule.ttl_ms):
        raise NotExpressible("it has two causes in one order, and each failpoint stands for itself")
    if not injected:
        if schedule.work_ms > schedule.ttl_ms:
            return "", ""
        raise NotExpressible("it has no fault: only the order of commands, which a load leaves to chance")
    place = injected[0]
    event, at = events[place], list(places(walk))[place]
    if event.kind is RESTART:
        if not any(walk.world.node(walk.moves[place].before, client).inside for client in range(schedule.clients)):
            raise NotExpressible("the store restarts while no client is in its work, and there is no failpoint for that")
        return KINDS[event.kind], f"{READ}.after"
    return KINDS[event.kind], _failpoint(walk, place, event, at, alone)


def _failpoint(walk: Walk, place: int, event: ScheduleEvent, at: At, alone: Counter[str]) -> str:
    if event.kind in (PAUSE, CRASH):
        return _between_commands(at, alone)
    if event.kind is LOST_COMMAND:
        if at.phase == RENEW:
            return f"{RENEW}.{BEFORE}"
        if at.sent != alone[at.phase] - 1:
            raise NotExpressible(f"a lost command has a failpoint before the last of a phase only, and this is in {at.phase}")
        return f"{at.phase}.{BEFORE_LAST}"
    if at.phase == RENEW or at.agreed or walk.moves[place].before.lock == walk.moves[place].state.lock:
        raise NotExpressible("a lost reply has a failpoint after the first command of a phase to which the store agreed, only")
    return f"{at.phase}.{AFTER_FIRST}"


def _between_commands(at: At, alone: Counter[str]) -> str:
    """Return the failpoint of a pause or a crash. Raises NotExpressible."""
    if at.phase in (READ, WRITE):
        return f"{at.phase}.{BEFORE}"
    if at.phase == THINK:
        return f"{READ}.after"
    if at.phase == RELEASE and at.sent and at.sent == alone[RELEASE] - 1:
        return f"{RELEASE}.{BEFORE_LAST}"
    if not at.sent or (at.phase == ACQUIRE and not at.agreed):
        return f"{at.phase}.{BEFORE}"
    if at.agreed == 1:
        return f"{at.phase}.{AFTER_FIRST}"
    raise NotExpressible(f"no failpoint is between the commands {at.sent} and {at.sent + 1} of {at.phase}")


UNTIL_MS = 1_000_000


class At(NamedTuple):
    """Where a client is when an event comes."""

    phase: str
    # how many commands its request has sent to the lock's store in this phase
    sent: int = 0
    # how many of them changed the lock's store: the store agreed
    agreed: int = 0


def places(seen: Walk) -> Iterator[At]:
    """Yield where the client of each event is when the event comes."""
    was_inside = [False] * len(seen.world.trees)
    sent: Counter[tuple[int, str]] = Counter()
    agreed: Counter[tuple[int, str]] = Counter()
    for move in seen.moves:
        before, client = move.before, move.event.client
        for number in range(len(was_inside)):
            was_inside[number] |= bool(seen.world.node(before, number).inside)
        if client < 0:
            yield At(ACQUIRE)
            continue
        phase = RENEW if not move.event.own else _phase(seen.world, before, client, was_inside[client])
        yield At(phase, sent[client, phase], agreed[client, phase])
        if move.command is not None and move.command.server == LOCK:
            sent[client, phase] += 1
            agreed[client, phase] += before.lock != move.state.lock


def _phase(world: World, state: State, client: int, was_inside: bool) -> str:
    node = world.node(state, client)
    if node.writing:
        return WRITE
    if node.inside:
        return READ if isinstance(node.pending[0], CommandSent) else THINK
    return RELEASE if was_inside else ACQUIRE


def commands_alone(world: World) -> Counter[str]:
    """Return how many commands one request sends to the lock's store in each phase, when nobody else asks for the lock.

    world: of one replica.
    """
    found: Counter[str] = Counter()
    state, was_inside = started(world, NONE), False
    while not world.is_over(state, 0) and (possible := moves(world, state, NONE, UNTIL_MS)):
        was_inside |= bool(world.node(state, 0).inside)
        move = next((move for move in possible if move.event.client == 0 and move.event.own), possible[0])
        if move.event.own and move.command is not None and move.command.server == LOCK:
            found[_phase(world, state, 0, was_inside)] += 1
        state = move.state
    return found
