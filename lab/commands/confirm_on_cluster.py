"""A broken promise on real replicas: the explorer's own schedule, command by command, before anything is printed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from rich.console import Console

from lab.commands.shortest import Shortest, as_schedule
from lab.enact.enact import enact, script_of
from lab.enact.enactment import not_possible
from lab.explore.code.program import FOR_EVER_MS, servers_of
from lab.explore.decision import Explorer
from lab.explore.search.event import short
from lab.explore.store.others import is_other
from lab.servers.supervised import supervised


class Confirmed(Enum):
    """What real replicas have shown of the broken promises."""

    AGREED = auto()
    CONTRADICTED = auto()
    NOT_POSSIBLE = auto()  # none of the schedules can be done to real replicas


def confirmed_on_cluster(promised: Sequence[Shortest], explorer: Explorer, console: Console) -> Confirmed:
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


def _not_possible(one: Shortest, explorer: Explorer) -> str:
    """Return why a schedule cannot be done to real replicas; empty where it can."""
    if is_other(explorer.stage.store):
        return f"on {explorer.stage.store}, no command waits for its turn"
    task = one.question.task
    if servers_of(explorer.stage) > 1:
        return "its lock asks several servers, and each command at one of them is an event"
    if task.nested or task.at_once > 1 or task.in_turn > 1 or task.ends or task.wait_ms < FOR_EVER_MS:
        return "its requests do what no scenario asks of them"
    return not_possible(one.broken.events)


def _run(one: Shortest, explorer: Explorer) -> tuple[bool, str]:
    schedule = as_schedule(one, explorer.real.version)
    script = script_of(explorer, schedule)
    with supervised() as supervisor:
        done = enact(
            supervisor, explorer.stage, schedule, script, f"lab replay {explorer.stage.lookup}:{short(one.broken.events)}"
        )
    done.conducted.folder.discard()
    return done.same, done.sentence
