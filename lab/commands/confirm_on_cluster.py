"""A broken promise on real replicas: the explorer's own schedule, command by command, before anything is printed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

from rich.console import Console

from app.lock import Claim
from lab.enact.enact import enact, script_of
from lab.enact.enactment import not_possible
from lab.explore.code.program import FOR_EVER_MS, servers_of
from lab.explore.decision import Explorer
from lab.explore.questions import Question
from lab.explore.schedule import of_moves
from lab.explore.search.event import short
from lab.explore.search.search import Broken
from lab.explore.search.state import Move
from lab.explore.search.world import World
from lab.explore.store.others import is_other
from lab.servers.supervised import supervised


class Confirmed(Enum):
    """What real replicas have shown of the broken promises."""

    AGREED = auto()
    CONTRADICTED = auto()
    NOT_POSSIBLE = auto()  # none of the schedules can be done to real replicas


class Found(Protocol):
    """A schedule that breaks a promise."""

    @property
    def claim(self) -> Claim: ...
    @property
    def broken(self) -> Broken: ...
    @property
    def question(self) -> Question: ...
    @property
    def world(self) -> World: ...
    @property
    def moves(self) -> list[Move]: ...


def confirmed_on_cluster(promised: Sequence[Found], explorer: Explorer, console: Console) -> Confirmed:
    """Run the schedules on real replicas until one breaks its promise there as well, and print what was seen."""
    seen = Confirmed.NOT_POSSIBLE
    console.print()
    for one in promised:
        if why := _not_possible(one, explorer):
            console.print(f"  {one.claim.name} is not run on real replicas: {why}", style="dim", highlight=False, soft_wrap=True)
            continue
        agrees, sentence = _run(one, explorer)
        verb = "agree" if agrees else "contradict the explorer"
        console.print(f"Real replicas {verb}: {sentence}.", style="" if agrees else "yellow", highlight=False, soft_wrap=True)
        if agrees:
            return Confirmed.AGREED
        seen = Confirmed.CONTRADICTED
    return seen


def _not_possible(one: Found, explorer: Explorer) -> str:
    """Return why a schedule cannot be done to real replicas; empty where it can."""
    if is_other(explorer.stage.store):
        return f"on {explorer.stage.store}, no command waits for its turn"
    task = one.question.task
    if servers_of(explorer.stage) > 1:
        return "its lock asks several servers, and each command at one of them is an event"
    if task.nested or task.at_once > 1 or task.in_turn > 1 or task.ends or task.wait_ms < FOR_EVER_MS:
        return "its requests do what no scenario asks of them"
    return not_possible(one.broken.events)


def _run(one: Found, explorer: Explorer) -> tuple[bool, str]:
    about = one.world.program, one.moves, one.question, explorer.real.version, one.claim.name, one.broken.finding.harm.value
    schedule = of_moves(*about)
    script = script_of(explorer, schedule)
    with supervised() as supervisor:
        done = enact(
            supervisor, explorer.stage, schedule, script, f"lab replay {explorer.stage.lookup}:{short(one.broken.events)}"
        )
    done.conducted.folder.discard()
    return done.same, done.sentence
