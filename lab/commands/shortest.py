"""The shortest schedules that break claims, run again from an empty server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.lock import Claim
from lab.explore.code.replica import NeverWaits, NewToken
from lab.explore.decision import Decision, Explorer, Undecided
from lab.explore.model import NotExplored
from lab.explore.questions import Question
from lab.explore.schedule import Schedule, of_moves
from lab.explore.search.event import short
from lab.explore.search.replay import Differs, NotPossible
from lab.explore.search.search import Broken
from lab.explore.search.state import Move
from lab.explore.search.world import World
from lab.explore.store.real_redis import MachineStalled
from lab.story.from_schedule import staged
from lab.story.happening import Story


class Shortest(NamedTuple):
    """A shortest schedule that breaks a claim, run again from an empty server."""

    claim: Claim
    broken: Broken
    question: Question
    world: World
    moves: list[Move]
    story: Story


def found_shortest(decision: Decision, explorer: Explorer, only: Claim | None = None) -> Iterator[Shortest]:
    """Run the shortest schedule of each claim that breaks again, the cheapest faults first.

    A schedule that cannot be run, or that breaks nothing when it is, is not believed: the next search is asked.
    """
    for claim in [claim for claim in decision.broken() if only in (None, claim)]:
        while claim in (broken := decision.broken()):
            question, its = broken[claim]
            try:
                world = explorer.world(question.task, question.replicas)
                story, moves = staged(world, its.events, question.horizon_ms, claim.name)
            except NewToken:  # another process searched: here it was not known which lines draw a token
                explorer.forget()
            except MachineStalled as error:
                decision.disbelieve(question, claim, Undecided.STALLED, str(error))
            except (NotPossible, Differs, NotExplored, NeverWaits) as error:
                decision.disbelieve(question, claim, Undecided.DIFFERS, str(error))
            else:
                if any(one.claim is claim for move in moves for one in move.found):
                    yield Shortest(claim, its, question, world, moves, story)
                    break
                decision.disbelieve(
                    question, claim, Undecided.DIFFERS, f"{short(its.events)} breaks nothing when it is run again"
                )


def as_schedule(one: Shortest, redis: str) -> Schedule:
    """Return a schedule as its file has it."""
    about = one.world.program, one.moves, one.question, redis, one.claim.name, one.broken.finding.harm.value
    return of_moves(*about)
