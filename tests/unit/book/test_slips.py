"""Test the page of slips, whose locks the explorer has decided, and the exercises with their solutions."""

import re

import pytest

from app.locks import stage
from lab.errors import BadInput
from lab.evidence import decided as kept
from lab.explore.commands.explore import check_servers
from lab.explore.questions import TTL_MS
from lab.paths import DOCS
from tests.every import every
from tests.exercises import FOLDER, exercises

SLIPS = {name: stage(str(path)) for name, path in kept.slips().items()}
PAGE = (DOCS / "slips.md").read_text(encoding="utf-8")
EXPLORED = {name: [line for line in one.story.see_it if line.startswith("lab explore")] for name, one in SLIPS.items()}
PARTS = re.findall(r"<!-- generated: slip (\w+) -->", PAGE)


def test_each_slip_is_on_the_page():
    """The page shows each lock of the folder, and no other."""
    assert sorted(PARTS) == sorted(SLIPS)


@every("name", SLIPS)
def test_docstring_of_a_slip(name):
    """The docstring of a slip says in its first line that it is a slip, and lists the commands that show it."""
    assert SLIPS[name].story.title.startswith("Slip: ")
    assert SLIPS[name].story.see_it
    assert all(f"docs/slips/{name}.py" in line for line in SLIPS[name].story.see_it)


@every("name", [name for name, lines in EXPLORED.items() if lines])
def test_decision_of_a_slip_is_current(name):
    """The decision on the page was made for the code on the page, with the TTL of the command on the page."""
    found = kept.current(SLIPS[name])

    assert found is not None, f"the code has changed: .venv/bin/lab explore docs/slips/{name}.py --keep"
    assert not found.why
    assert found.ttl_ms == int(next(iter(re.findall(r"--ttl-ms (\d+)", "".join(EXPLORED[name]))), TTL_MS))
    broken = [claim for claim, one in kept.of_claims(found).items() if one.broken]
    assert bool(found.story) or not set(broken) & set(SLIPS[name].claims)


def test_servers_of_a_lock_in_one_store():
    """The option --servers is refused for a lock in one store."""
    check_servers(stage("redlock"), 4)
    check_servers(stage("lua"), None)
    with pytest.raises(BadInput, match="--servers 3: the lock of lua is in one store"):
        check_servers(stage("lua"), 3)


PARTS_OF_EXERCISE = ["Title", "Idea", "Task", "Check", "Before", "After", "Hint"]
SOLUTIONS = FOLDER / "solutions"


def test_ten_exercises_with_a_solution_each():
    """There are ten exercises, and a solution of the same name for each."""
    assert len(exercises()) == 10
    assert [path.name for path in sorted(SOLUTIONS.glob("*.py"))] == [path.name for path in exercises()]


@every("path", exercises)
def test_exercise_has_its_parts(path):
    """The docstring of an exercise has all parts, and its check is a command for the student's own file."""
    parts = exercises()[path]

    assert list(parts) == PARTS_OF_EXERCISE
    assert parts["Check"].startswith("`lab explore ./my_lock.py --")
    assert parts["Before"] != parts["After"]
    assert (
        f"| {' | '.join(parts[name] for name in ('Task', 'Check', 'Before', 'After'))} |" in (DOCS / "exercises.md").read_text()
    )


@every("path", exercises)
def test_solution_keeps_the_promises(path):
    """A solution has the promises, the TTL and the resource of its exercise, and states its idea."""
    start, solution = stage(str(path)), stage(str(SOLUTIONS / path.name))

    assert (start.claims, start.ttl_ms, start.resource) == (solution.claims, solution.ttl_ms, solution.resource)
    assert solution.story.idea
