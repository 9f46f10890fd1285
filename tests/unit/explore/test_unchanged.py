"""What a replica runs is the stage's code as Python compiles it: docs/explore.md says that no line is rewritten."""

from __future__ import annotations

from inspect import isclass, isfunction
from pathlib import Path
from types import CodeType

import pytest

from app.locks import stages
from lab.explore.code.program import Program, Task
from lab.explore.store.others import why_not
from lab.explore.store.real_redis import Scripts
from lab.scenario.stages import find_stage

STAGES = sorted(name for name, one in stages().items() if not why_not(one))
LOCK = """\
from parts.tokens import drawn
from app.lock import Stage
class Lock:
    def __init__(self, *_):
        self.tokens = [one for one in drawn()]
    def run(self, work):
        for token in self.tokens:
            work(token)
STAGE = Stage(lock=Lock, store="redis")
"""
TOKENS = """\
def drawn():
    for number in range(3):
        yield number
"""
PACKAGE = {"mine.py": LOCK, "parts/__init__.py": "", "parts/tokens.py": TOKENS}


def as_compiled(path):
    """Return all pieces of code of a file, as Python compiles it."""
    found, todo = set(), [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        found.add(code)
        todo += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def functions(module):
    """Return the functions and methods that a module defines."""
    classes = [one for one in vars(module).values() if isclass(one) and one.__module__ == module.__name__]
    named = [one for holder in (module, *classes) for one in vars(holder).values()]
    found = [getattr(one, "__func__", getattr(one, "fget", one)) for one in named]
    return [
        one for one in found if isfunction(one) and one.__globals__ is vars(module) and one.__code__.co_filename != "<string>"
    ]


def changed(name):
    """Return how many functions the replica's modules of a stage have, and those whose code is not that of their file."""
    modules = Program(find_stage(name), Task(3000), Scripts()).modules()
    of_each = [(module, Path(str(module.__file__)), functions(module)) for module in modules]
    differ = [one.__qualname__ for _, path, ones in of_each for one in ones if one.__code__ not in as_compiled(path)]
    return sum(len(ones) for *_, ones in of_each), differ


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_runs_unchanged(name):
    """Each function of the stage, and of the stages that it imports, is the one that Python compiles."""
    number, differ = changed(name)

    assert number > 0
    assert not differ


def test_a_package_runs_unchanged(tmp_path, monkeypatch):
    """So is each function of a file outside the lab, with its own package, loops and comprehensions."""
    monkeypatch.syspath_prepend(tmp_path)
    for path, text in PACKAGE.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")

    number, differ = changed(str(tmp_path / "mine.py"))

    assert number == 3
    assert not differ
