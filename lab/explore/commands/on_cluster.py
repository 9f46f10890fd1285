"""Schedules on real replicas, command by command: those of ``lab replay --cluster``, and those that break a promise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum, auto
from functools import partial

from rich.console import Console

from app.lock import Stage
from lab.errors import ExitStatus
from lab.explore.code.program import FOR_EVER_MS, servers_of
from lab.explore.commands.shortest import Shortest
from lab.explore.decision import Explorer
from lab.explore.enact.enact import TRIES, Agreement, Enacted, enact, script_of
from lab.explore.enact.enactment import ScheduleScript, not_possible
from lab.explore.schedule import Schedule
from lab.explore.search.event import CHOICE
from lab.explore.story.deeds import of_finding
from lab.language import Language, of_environment
from lab.pipeline import finish
from lab.report.terminal import summarise, terminal, where_to_look
from lab.servers.supervisor import supervised
from lab.story import say
from lab.story.say import ENGLISH
from lab.story.verdict import because


def not_on_cluster(stage: Stage, schedule: Schedule, language: Language = ENGLISH) -> str:
    """Return why a schedule cannot be done to real replicas; empty where it can."""
    said = partial(say.text, "not_on_cluster", language=language)
    if servers_of(stage) > 1:
        return said("several_servers")
    if schedule.nested:
        return said("nested")
    if (found := not_possible(schedule.parsed)) is None:
        return ""
    number, event = found
    return said("choice" if event.kind is CHOICE else "failure", number=number, event=event)


def enacted_in_words(done: Enacted, language: Language = ENGLISH) -> str:
    """Return how a schedule on the cluster compares with what the explorer saw."""
    said, listed = partial(say.text, "enacted", language=language), partial(say.listed, language=language)
    part = say.words(language)["mark"]["part"]
    how = part.join(dict.fromkeys(say.broken(of_finding(one), language) for one in done.explored))
    colon = say.words(language)["mark"]["colon"]
    made = said(
        done.agreement,
        n=done.conducted.judgement.lost if done.agreement is Agreement.LOSS else done.conducted.findings.gave_up,
        explored=f"{done.explored[0].claim.name}{colon}{how}" if done.explored else said("no_claim"),
        judged=part.join(because(one, language) for one in done.judged),
        others=listed(done.others) or said("no_claim"),
        difference=done.difference,
    )
    return said("tried", n=done.tries, what=made, most=TRIES) if done.tries > 1 else made


def replay_on_cluster(stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> int:
    """Run a schedule on real replicas, judge the run, and print whether both saw the same.

    Return 0 if they did, and 3 otherwise.
    """
    console = terminal()
    with supervised() as supervisor:
        done = enact(supervisor, stage, schedule, script, command)
    summarise(console, done.conducted.judgement, done.conducted.findings)
    what = enacted_in_words(done, language := of_environment(os.environ))
    console.print(say.text("enacted", "on_cluster", language, what=what), style="" if done.same else "yellow")
    where_to_look(console, finish(done.conducted, draw=False))
    return ExitStatus.GOOD if done.same else ExitStatus.NOTHING_SHOWN


class Confirmed(Enum):
    """What real replicas have shown of the broken promises."""

    AGREED = auto()
    CONTRADICTED = auto()
    NOT_POSSIBLE = auto()  # none of the schedules can be done to real replicas


def confirmed_on_cluster(promised: Sequence[Shortest], explorer: Explorer, console: Console) -> Confirmed:
    """Run the schedules on real replicas until one breaks its promise there as well, and print what was seen."""
    seen, language = Confirmed.NOT_POSSIBLE, of_environment(os.environ)
    said = partial(say.text, "enacted", language=language)
    console.print()
    for one in promised:
        if why := _not_possible(one, explorer, language):
            console.print(f"  {said('not_run', claim=one.claim.name, why=why)}", style="dim", soft_wrap=True)
            continue
        done = _run(one, explorer)
        if done.agreement is Agreement.NOT_HELD:
            why = enacted_in_words(done, language)
            console.print(f"  {said('not_run', claim=one.claim.name, why=why)}", style="dim", soft_wrap=True)
            continue
        made = said("agree" if done.same else "contradict", what=enacted_in_words(done, language))
        console.print(made, style="" if done.same else "yellow", soft_wrap=True)
        if done.same:
            return Confirmed.AGREED
        seen = Confirmed.CONTRADICTED
    return seen


def _not_possible(one: Shortest, explorer: Explorer, language: Language) -> str:
    task = one.question.task
    if task.at_once > 1 or task.in_turn > 1 or task.ends or task.wait_ms < FOR_EVER_MS:
        return say.text("not_on_cluster", "requests", language)
    return not_on_cluster(explorer.stage, one.schedule, language)


def _run(one: Shortest, explorer: Explorer) -> Enacted:
    schedule = one.schedule
    command = f"lab replay {explorer.stage.lookup}:{schedule.events}"
    with supervised() as supervisor:
        done = enact(supervisor, explorer.stage, schedule, script_of(explorer, schedule), command)
    done.conducted.folder.discard()
    return done
