"""The file of one schedule: what a search found, so that anybody can run it again and see whether it still is so.

It has a hash of the code, so that a stage that was changed since is not taken for the one that was searched.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from lab.errors import BadInput, in_short
from lab.explore.code.program import Task
from lab.explore.model import GRID_MS
from lab.explore.questions import PAIR, TTL_MS, Question
from lab.explore.search.event import ScheduleEvent, parse
from lab.explore.search.replay import needed

SCHEMA = 3
MOST_CLIENTS = 8

Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=86_400_000)]
Few = Annotated[int, msgspec.Meta(ge=1, le=MOST_CLIENTS)]


class Schedule(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One schedule of one stage."""

    schema: Annotated[int, msgspec.Meta(ge=SCHEMA, le=SCHEMA)]
    # the stage's name, or the path of its file
    stage: str
    # of the stage's source, and of what it imports of the shelf
    sha256: str = ""
    # the version of the server that executed it; empty in a schedule that was typed
    redis: str = ""
    clients: Few
    ttl_ms: Annotated[int, msgspec.Meta(ge=300, le=60_000)]
    work_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)]
    # how long a request waits for the lock; None for as long as it takes
    wait_ms: Milliseconds | None = None
    # how long a waiter naps between two tries, at least
    nap_ms: Annotated[int, msgspec.Meta(ge=GRID_MS, le=60_000)] = GRID_MS
    # until when the search went, on its clock
    until_ms: Milliseconds
    # whether each request takes the lock twice
    nested: bool = False
    # how many requests a replica serves at once, and one after the other
    at_once: Few = 1
    in_turn: Few = 1
    # whether fractions are drawn near the ends of their range as well
    ends: bool = False
    # how many servers the lock asks; 0 where it is as many as the lab runs
    servers: Annotated[int, msgspec.Meta(ge=0, le=7)] = 0
    # all events in the short form
    events: str
    # the claim that the last event breaks, and the code of how; empty in a schedule that was typed
    claim: str = ""
    harm: str = ""

    @property
    def parsed(self) -> list[ScheduleEvent]:
        """The events. Raises BadInput, which names the place."""
        try:
            return parse(self.events)
        except ValueError as error:
            raise BadInput(f"{self.stage}:{self.events} is not a valid schedule: {error}") from None

    @property
    def task(self) -> Task:
        """What the requests do."""
        return Task(*[getattr(self, name) for name in Task._fields])

    @property
    def question(self) -> Question:
        """The search of which it is a schedule."""
        return Question(self.task, needed(self.parsed), self.clients)


def in_shell(named: str, events: str) -> str:
    """Return STAGE:EVENTS as a shell takes it: the number of a thread stands behind an apostrophe."""
    return f'"{named}:{events}"' if "'" in events else f"{named}:{events}"


def options_of(question: Question) -> str:
    """Return the options with which ``lab explore --replay`` runs a schedule of a search; empty if none is needed."""
    task = question.task
    options = f" --work-ms {task.work_ms}" if task.work_ms else ""
    options += f" --nap-ms {task.nap_ms}" if task.nap_ms != GRID_MS else ""
    options += " --nested" if task.nested else ""
    options += f" --clients {question.replicas}" if question.replicas > PAIR else ""
    return options + (f" --ttl-ms {task.ttl_ms}" if task.ttl_ms != TTL_MS else "")


def read(path: Path) -> Schedule:
    """Read the file of a schedule. Raises BadInput."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Schedule)
    except OSError as error:
        raise BadInput(f"the schedule cannot be read: {in_short(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a schedule of `lab explore --out`: {error}") from None
    events = found.parsed
    if (most := max((event.client + 1 for event in events), default=0)) > found.clients:
        raise BadInput(f"{path}: its events name {most} clients, and it has {found.clients}")
    return found


def write(schedule: Schedule, path: Path) -> None:
    """Write the file of a schedule."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(schedule), indent=1) + b"\n")
