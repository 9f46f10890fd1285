"""The exercises: each start breaks what it says, and each solution breaks what it says, in every order of events."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from lab.commands.explore import redis_server
from lab.commands.explore_commands import explore
from lab.docgen.lesson_parts import FOLDER, exercises
from lab.explore.budget import Budget
from lab.explore.decision import Decision, decide, questions
from lab.scenario.stages import find_stage
from tests.command import run

STARTS = {path.stem: parts for path, parts in exercises().items()}
TTL_MS, WITHIN_S = 3000, 120.0


@pytest.fixture(scope="module")
def real():
    """A Redis server for the explorer alone."""
    with redis_server() as server:
        yield server


def decided(path: Path, check: str, real) -> Decision:
    """Decide what the command of an exercise decides, for the lock in a file."""
    words = shlex.split(check.strip("`"))[2:]
    given = explore.make_context("explore", words).params
    budget = Budget(**{name: given[name] or 0 for name in Budget._fields})
    asked = questions(given["clients"], TTL_MS, None, [budget])
    for one in asked:
        one.nested = given["nested"]
    return decide(find_stage(str(path)), given["clients"], TTL_MS, asked, real, WITHIN_S)


def named(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


UNNOTICED = {
    "08_two_tickets: two clients cannot break it": (FOLDER, "lab explore ./my_lock.py --clients 2 --pauses 0"),
    "04_break_the_release: no order without a pause breaks it": (FOLDER / "solutions", "lab explore ./my_lock.py --pauses 0"),
}


@pytest.mark.parametrize("what", UNNOTICED)
def test_less_is_not_enough(what, real):
    """Where an exercise says that a smaller search finds nothing, it finds nothing."""
    folder, check = UNNOTICED[what]

    found = decided(folder / f"{what.partition(':')[0]}.py", check, real)

    assert found.broken_promises == []
    assert all(one.found.complete for one in found.questions)


@pytest.mark.parametrize(("folder", "verdict"), [(FOLDER, "BROKEN"), (FOLDER / "solutions", "KEPT")], ids=["start", "solution"])
def test_run_agrees_with_the_explorer(folder, verdict, tmp_path):
    """Real servers show what the explorer has found: the release of a slow holder, before and after."""
    shutil.copy(folder / "03_deletes_anything.py", tmp_path / "my_lock.py")

    done = run("slow_holder", "./my_lock.py", tmp_path)

    assert done.verdict["verdict"] == verdict


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize(("folder", "when"), [(FOLDER, "Before"), (FOLDER / "solutions", "After")], ids=["start", "solution"])
def test_exercise_breaks_what_it_says(name, folder, when, real):
    """The command of an exercise finds the broken claims that the exercise names, and no others that the lock makes."""
    found = decided(folder / f"{name}.py", STARTS[name]["Check"], real)

    assert {claim.name for claim in found.broken_promises} == named(STARTS[name][when])
    assert all(one.found.complete for one in found.questions)
