"""The exercises: each has its parts and its solution, and the solution makes the same promises."""

from __future__ import annotations

from app.locks import stage
from lab.docgen.lesson_parts import FOLDER, exercises
from tests.every import every

PARTS = ["Title", "Idea", "Task", "Check", "Before", "After", "Hint"]
SOLUTIONS = FOLDER / "solutions"


def test_ten_exercises_with_a_solution_each():
    """There are ten exercises, and a solution of the same name for each."""
    assert len(exercises()) == 10
    assert [path.name for path in sorted(SOLUTIONS.glob("*.py"))] == [path.name for path in exercises()]


@every("path", exercises)
def test_exercise_has_its_parts(path):
    """The docstring of an exercise has all parts, and its check is a command for the student's own file."""
    parts = exercises()[path]

    assert list(parts) == PARTS
    assert parts["Check"].startswith("`lab explore ./my_lock.py --")
    assert parts["Before"] != parts["After"]


@every("path", exercises)
def test_solution_keeps_the_promises(path):
    """A solution changes the lock, and not what it promises."""
    start, solution = stage(str(path)), stage(str(SOLUTIONS / path.name))

    assert (start.claims, start.ttl_ms, start.resource) == (solution.claims, solution.ttl_ms, solution.resource)
    assert solution.story.idea
