"""Run the schedules that break a promise on real replicas, command by command, and say whether the replicas agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from rich.console import Console

from app.lock import Stage
from lab.explore.code.program import servers_of
from lab.explore.commands.shortest import Shortest
from lab.explore.enact.enact import Agreement, Enacted, enact
from lab.explore.model import TimeLimit
from lab.explore.questions import Question
from lab.explore.search.event import CHOICE, FAILURE, RESTART, ScheduleEvent
from lab.explore.story.happenings import of_finding
from lab.language import Language, of_environment
from lab.servers.supervisor import supervised
from lab.story import say
from lab.story.say import ENGLISH


def not_on_cluster(stage: Stage, question: Question, schedule: Sequence[ScheduleEvent], language: Language = ENGLISH) -> str:
    """Return why a schedule cannot run on real replicas; empty if it can."""
    text, task = partial(say.text, "not_on_cluster", language=language), question.task
    if servers_of(stage) > 1:
        return text("several_servers")
    if task.nested:
        return text("nested")
    if task.at_once > 1 or task.in_turn > 1 or task.ends or task.wait_ms is not None:
        return text("requests")
    without = {CHOICE: "choice", FAILURE: "failure", RESTART: "restart"}
    events = ((number, event) for number, event in enumerate(schedule, 1) if event.kind in without)
    return next((text(without[event.kind], number=number, event=event) for number, event in events), "")


def enacted_in_words(done: Enacted, language: Language = ENGLISH) -> str:
    """Return in words how the run of a schedule on real replicas compares with the explorer's."""
    text, words = partial(say.text, "enacted", language=language), say.words(language)["mark"]
    how = words["part"].join(dict.fromkeys(say.broken(of_finding(finding), language) for finding in done.explored))
    why_not = "not_held" if done.difference else "not_measured"
    return text(
        why_not if done.agreement is Agreement.NOT_COMPARABLE else done.agreement,
        explored=words["colon"].join((*[finding.claim.name for finding in done.explored[:1]], how)),
        judged=say.listed(done.judged, language) or text("no_claim"),
        difference=done.difference,
    )


def confirmed_on_cluster(promised: Sequence[Shortest], stage: Stage, console: Console, limit: TimeLimit) -> Agreement:
    """Run the schedules on real replicas until one breaks its promise there too, or the time is over. Print each result.

    Return AGREES if one breaks its promise, DIFFERS if each of them differs, and NOT_COMPARABLE otherwise.
    """
    seen, language = set[Agreement](), of_environment(os.environ)
    text = partial(say.text, "enacted", language=language)
    console.print()
    for schedule in promised:
        agreement = Agreement.NOT_COMPARABLE
        is_over = say.text("undecided", "time", language) if limit.left_s < 0 else ""
        if not (why := is_over or not_on_cluster(stage, schedule.question, schedule.broken.events, language)):
            with supervised() as supervisor:
                done = enact(supervisor, stage, schedule.question, schedule.claim, schedule.walk)
            done.conducted.folder.discard()
            why, agreement = enacted_in_words(done, language), done.agreement
        seen.add(agreement)
        style = {Agreement.AGREES: "", Agreement.DIFFERS: "yellow"}.get(agreement, "dim")
        console.print(text(f"run_{agreement}", claim=schedule.claim.name, what=why), style=style, soft_wrap=True)
        if agreement is Agreement.AGREES:
            return agreement
    return Agreement.DIFFERS if seen == {Agreement.DIFFERS} else Agreement.NOT_COMPARABLE
