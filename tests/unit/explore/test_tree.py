"""A stage's code as a tree: each step is learned once, and one that looks at the clock is another one at another time."""

from __future__ import annotations

import pytest

from lab.explore.code.operation import CommandSent, Nap
from lab.explore.code.program import Program, Task
from lab.explore.code.tree import Tree
from lab.explore.store.real_redis import Scripts
from lab.scenario.stages import find_stage

SOURCE = '''\
"""Tries again and again."""
import time
from app.lock import Stage
class Lock:
    def __init__(self, store, key, *_):
        self.store, self.key = store, key
    def run(self, work):
        while not self.store.set(self.key, "x", nx=True):
            time.sleep(0.03)
        {then}
        self.store.get(self.key)
STAGE = Stage(lock=Lock, store="redis")
'''
LOOKS = "time.monotonic() > 1 and self.store.delete(self.key)"
REFUSED, OK = b"$-1\r\n", b"+OK\r\n"


@pytest.fixture
def tree(tmp_path, request):
    path = tmp_path / "tries.py"
    path.write_text(SOURCE.format(then=request.param), encoding="utf-8")
    made = Tree(Program(find_stage(str(path)), Task(3000), Scripts()), 0)
    yield made
    made.close()


@pytest.mark.parametrize("tree", ["pass"], indirect=True)
def test_each_step_is_learned_once(tree):
    """The code runs once to each place, however often and in which order the places are asked for."""
    first = tree.step(0, 0, REFUSED, 0)
    again = tree.step(tree.step(first, 0, None, 100), 0, REFUSED, 100)
    runs = tree.runs

    assert isinstance(tree.nodes[0].pending[0], CommandSent)
    assert isinstance(tree.nodes[first].pending[0], Nap)
    assert tree.nodes[0].pending[0].words == (b"SET", b"L", b"x", b"NX")
    assert tree.step(0, 0, REFUSED, 0) == first != again
    assert tree.runs == runs


@pytest.mark.parametrize("tree", ["pass", LOOKS], indirect=True, ids=["at any time", "looks at the clock"])
def test_a_step_at_another_time(tree, request):
    """A step in which the code looks at the clock can lead somewhere else at another time; any other sends the same."""
    looks = "looks" in request.node.name
    early, late = (tree.step(0, 0, OK, at_ms) for at_ms in (0, 2000))
    words = [tree.nodes[one].pending[0].words[0] for one in (early, late)]

    assert early != late or not looks
    assert words == ([b"GET", b"DEL"] if looks else [b"GET", b"GET"])
