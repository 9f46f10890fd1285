"""The exercises: each start and each solution breaks the claims that its exercise names, in every order of events."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lab.explore.commands.command_line import explore
from lab.explore.decision import Decision
from lab.explore.questions import SearchOptions
from lab.explore.search.event import Budget
from lab.scenario.stages import find_stage
from tests.exercises import FOLDER, exercises
from tests.sampled import sampled
from tests.servers.explored import exploring

STARTS = {path.stem: parts for path, parts in exercises().items()}
TTL_MS, WITHIN_S = 3000, 60.0


def decided(path: Path, check: str, real) -> Decision:
    """Decide the questions of an exercise's command for the lock in a file."""
    words = shlex.split(check.strip("`"))[2:]
    given = explore.make_context("explore", words).params
    faults = {name: given.pop(name) for name in Budget._fields}
    budget = Budget(**{name: number or 0 for name, number in faults.items()})
    known = {name: value for name, value in given.items() if name in SearchOptions._fields}
    asked = SearchOptions(**known, budget=budget if any(one is not None for one in faults.values()) else None)
    questions = asked.questions(find_stage(str(path)))
    with exploring(real, path) as explorer:
        answers = [explorer.answer(one, WITHIN_S) for one in questions]
        return Decision(explorer.stage, TTL_MS, questions, answers)


def broken_promises(decision: Decision) -> set[str]:
    return {claim.name for claim in decision.broken().keys() & decision.stage.claims}


def named(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


UNNOTICED = {
    "08_two_tickets: two clients cannot break it": (FOLDER, "lab explore ./my_lock.py --clients 2 --pauses 0"),
    "04_break_the_release: no order without a pause breaks it": (FOLDER / "solutions", "lab explore ./my_lock.py --pauses 0"),
}


@pytest.mark.parametrize("what", UNNOTICED)
def test_less_is_not_enough(what, real):
    """A smaller search finds nothing if the exercise says so."""
    folder, check = UNNOTICED[what]

    found = decided(folder / f"{what.partition(':')[0]}.py", check, real)

    assert not broken_promises(found)
    assert all(one.is_decided for one in found.answers)


@pytest.mark.parametrize("name", sampled(STARTS, [one for one in STARTS if one[:2] in ("03", "04", "07", "10")]))
@pytest.mark.parametrize(("folder", "when"), [(FOLDER, "Before"), (FOLDER / "solutions", "After")], ids=["start", "solution"])
def test_exercise_breaks_what_it_says(name, folder, when, real):
    """The command of an exercise finds exactly the broken promises that the exercise names."""
    found = decided(folder / f"{name}.py", STARTS[name]["Check"], real)

    assert broken_promises(found) == named(STARTS[name][when])
    assert all(one.is_decided for one in found.answers)
