"""Read and write a schedule as commands have it: STAGE:EVENTS, with options for the work of the requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from lab.errors import BadInput
from lab.explore.code.program import Task
from lab.explore.questions import PAIR, TTL_MS, Question
from lab.explore.search.event import CLOCK, ScheduleEvent, parse, short
from lab.explore.search.replay import needed

USUAL = Task(TTL_MS)._asdict() | {"clients": PAIR}  # the values of options that are left out


class Schedule(NamedTuple):
    """One schedule of one stage."""

    # the stage's name, or the path of its file
    stage: str
    events: list[ScheduleEvent]
    # the search of which it is a schedule
    question: Question

    @property
    def until_ms(self) -> int:
        """Return the moment at which it ends, on the clock of the search."""
        return max([self.question.horizon_ms, *(event.number for event in self.events if event.kind is CLOCK)])


def typed(text: str, clients: int | None = None, **task: Any) -> Schedule:
    """Return the schedule of a text STAGE:EVENTS. Raises BadInput, which names the wrong part.

    clients: the number of replicas; None for as many as the text names, at least two. task: fields of the task; None if left out.
    """
    name, colon, letters = text.rpartition(":")
    if not colon or not name:
        raise BadInput(f"{text!r} is not a schedule; write STAGE:EVENTS, as in uuid:A4BpAt3000BrAA")
    try:
        events = parse(letters)
    except ValueError as error:
        raise BadInput(f"{text} is not a valid schedule: {error}") from None
    known = {field: value for field, value in task.items() if value is not None}
    replicas = clients or max(PAIR, *(event.client + 1 for event in events), 0)
    return Schedule(name, events, Question(Task(**({"ttl_ms": TTL_MS} | known)), needed(events), replicas))


def in_shell(stage: str, events: str) -> str:
    """Return STAGE:EVENTS for a shell, in quotes if a thread's number follows an apostrophe."""
    return f'"{stage}:{events}"' if "'" in events else f"{stage}:{events}"


def options_of(question: Question) -> str:
    """Return the options with which ``lab explore --replay`` runs a schedule of a search; empty if none is needed."""
    values = question.task._asdict() | {"clients": question.replicas}
    others = {name.replace("_", "-"): value for name, value in values.items() if value != USUAL[name]}
    return "".join(f" --{name}" if value is True else f" --{name} {value}" for name, value in others.items())


def replay(stage: str, question: Question, events: list[ScheduleEvent]) -> str:
    """Return the command that runs a schedule again. stage: its name or path, as it was typed."""
    return f"lab explore --replay {in_shell(stage, short(events))}{options_of(question)}"
