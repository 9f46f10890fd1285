"""Schedules on real replicas, command by command: those of ``lab replay --cluster``, and those that break a promise."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from rich.console import Console

from app.lock import Stage
from lab.commands.shortest import Shortest
from lab.enact.enact import enact, script_of
from lab.enact.enactment import ScheduleScript, not_possible
from lab.errors import ExitStatus
from lab.explore.code.program import FOR_EVER_MS, servers_of
from lab.explore.decision import Explorer
from lab.explore.schedule import Schedule
from lab.explore.store.others import is_other
from lab.pipeline import finish
from lab.report.terminal import summarise, terminal, where_to_look
from lab.servers.supervisor import supervised


def not_on_cluster(stage: Stage, schedule: Schedule) -> str:
    """Return why a schedule cannot be done to real replicas; empty where it can."""
    if is_other(stage.store):
        return f"no command of {stage.store} waits for its turn"
    if servers_of(stage) > 1:
        return "its lock asks several servers, and each command at one of them is an event"
    if schedule.nested:
        return "its requests take the lock twice, which no scenario asks of them"
    return not_possible(schedule.parsed)


def replay_on_cluster(stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> int:
    """Run a schedule on real replicas, judge the run, and print whether both saw the same.

    Return 0 if they did, and 3 otherwise.
    """
    console = terminal()
    with supervised() as supervisor:
        done = enact(supervisor, stage, schedule, script, command)
    summarise(console, done.conducted.judgement, done.conducted.findings)
    console.print(f"On the cluster: {done.sentence}.", style="" if done.same else "yellow")
    where_to_look(console, finish(done.conducted, draw=False))
    return ExitStatus.GOOD if done.same else ExitStatus.NOTHING_SHOWN


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
            console.print(f"  {one.claim.name} is not run on real replicas: {why}", style="dim", soft_wrap=True)
            continue
        agrees, sentence = _run(one, explorer)
        verb = "agree" if agrees else "contradict the explorer"
        console.print(f"Real replicas {verb}: {sentence}.", style="" if agrees else "yellow", soft_wrap=True)
        if agrees:
            return Confirmed.AGREED
        seen = Confirmed.CONTRADICTED
    return seen


def _not_possible(one: Shortest, explorer: Explorer) -> str:
    task = one.question.task
    if task.at_once > 1 or task.in_turn > 1 or task.ends or task.wait_ms < FOR_EVER_MS:
        return "its requests do what no scenario asks of them"
    return not_on_cluster(explorer.stage, one.schedule)


def _run(one: Shortest, explorer: Explorer) -> tuple[bool, str]:
    schedule = one.schedule
    command = f"lab replay {explorer.stage.lookup}:{schedule.events}"
    with supervised() as supervisor:
        done = enact(supervisor, explorer.stage, schedule, script_of(explorer, schedule), command)
    done.conducted.folder.discard()
    return done.same, done.sentence
