"""What a replica remembers: all that can make a difference later, and nothing else."""

from __future__ import annotations

import textwrap

import pytest

from lab.explore.client_tree import ClientTree, Input
from lab.explore.memory import remembered
from lab.explore.program import Program
from lab.scenario.stages import find_stage

SOURCE = '''\
"""Tries again and again."""
import collections, contextlib, contextvars, time, uuid
from app.lock import Stage
TRIES = 0
VARIABLE = contextvars.ContextVar("tries")
def noted(seen=[]):
    seen.append(1)
def counter():
    tries = 0
    def count():
        nonlocal tries
        tries += 1
    return count
def numbers():
    number = 0
    while True:
        yield number
        number += 1
@contextlib.contextmanager
def managed(tries):
    yield tries
class Other:
    __slots__ = ("tries",)
class Lock:
    tries = 0
    def __init__(self, store, key, *_):
        self.store, self.key, self.seen, self.other = store, key, collections.deque(), Other()
        self.other.tries = 0
    def run(self, work):
        global TRIES
        mine, count, number, several = 0, counter(), numbers(), iter(range(100))
        {loop}
            if self.store.set(self.key, "x", nx=True):
                break
            {after}
            time.sleep(0.03)
STAGE = Stage(lock=Lock, store="redis")
'''
FOREVER = "while True:"
REMEMBERS = {
    "an attribute": "self.tries += 1",
    "an attribute of another object": "self.other.tries += 1",
    "a class": "Lock.tries += 1",
    "a variable": "mine += 1",
    "a global": "TRIES += 1",
    "a collection": "self.seen.append(1)",
    "a default argument": "noted()",
    "a closure": "count()",
    "a generator": "next(number)",
    "an iterator": "next(several)",
    "a context variable": "VARIABLE.set(VARIABLE.get(0) + 1)",
    "a moment": "self.seen = time.monotonic()",
    "a new number": "uuid.uuid4()",
}
FORGETS = {
    "nothing": "pass",
    "a look at the clock": "assert time.monotonic() < 1e9",
    "the same again": "self.seen = ['tried']",
    "a block that is over": "with managed(1) as mine: mine = 0",
}


class NoServer:
    """In place of a server: the replies are given by the test."""

    def register(self, script):
        """Forget the script."""


def program(tmp_path, after, loop=FOREVER):
    path = tmp_path / "tries.py"
    path.write_text(SOURCE.format(loop=loop, after=after), encoding="utf-8")
    return Program(find_stage(str(path)), 3000, 0, NoServer())


def after_tries(started, tries=(2, 3)):
    """Return what a replica remembers after some tries in vain, one each second."""
    replica, found = started.start(0), []
    for number in range(1, max(tries) + 1):
        replica.resume(0, None, 1000 * number)  # SET was refused
        if number in tries:
            found.append(remembered(replica))
        replica.resume(0, None, 1000 * number)  # the nap is over
    return found


@pytest.mark.parametrize("what", REMEMBERS)
def test_what_is_remembered(what, tmp_path):
    """Whatever a try in vain leaves behind, wherever it does: the replica is another than before."""
    second, third = after_tries(program(tmp_path, REMEMBERS[what]))

    assert second != third


@pytest.mark.parametrize("what", FORGETS)
def test_what_is_not_remembered(what, tmp_path):
    """A try that leaves nothing behind is forgotten, and so is when it was."""
    second, third = after_tries(program(tmp_path, FORGETS[what]))

    assert second == third is not None


@pytest.mark.parametrize("loop", ["for _ in range(5):", "for _ in [1, 2, 3, 4]:", "for _ in iter([1] * 5):"])
def test_a_loop_over_something(loop, tmp_path):
    """How often a loop still goes round is remembered, although no variable of the code has it."""
    second, third = after_tries(program(tmp_path, "pass", loop))

    assert second is not None is not third
    assert second.digest != third.digest


def test_a_loop_of_a_library(tmp_path):
    """The iterator of a library's loop is in no variable. So a replica in such a loop is like no other."""
    started = program(tmp_path, "self.store.pipeline(transaction=False).get('a').get('b').execute()")
    replica = started.start(0)
    replica.resume(0, None, 0)

    assert replica.threads[0].pending.words == (b"GET", b"a")
    assert remembered(replica) is None


def test_no_names(tmp_path):
    """All replicas remember the same but for their tokens; one that has the token of another is known."""
    started = program(tmp_path, "self.seen = str(uuid.uuid4()) + uuid.uuid4().hex + str(self.store.get('other'))")
    first, second = (started.start(number) for number in (0, 1))
    token = f"{1:016x}{7:016x}"  # of the first replica
    for replica in (first, second):
        for result in (None, token.encode()):
            replica.resume(0, result, 0)

    assert [remembered(one).has_strange_token for one in (first, second)] == [False, True]
    assert remembered(started.start(0)) == remembered(started.start(1))


def test_all_replicas_alike(tmp_path):
    """Two runs of the same code remember the same: nothing of this process is in it."""
    started = program(tmp_path, "pass")

    assert after_tries(started) == after_tries(started)


def test_merged_nodes(tmp_path):
    """In a tree that merges, a try in vain leads back to where it began; in another one, each try has its own node."""
    numbers = {}
    for merge in (True, False):
        tree = ClientTree(program(tmp_path, "pass"), 0, merge)
        node, met = 0, []
        for number in range(1, 5):
            node = tree.step(node, Input(0, None, 1000 * number))
            met.append(node)
            node = tree.step(node, Input(0, None, 1000 * number))
        numbers[merge] = len(set(met))
        tree.close()

    assert numbers == {True: 1, False: 4}


LOOKS = "time.monotonic() > 1 and self.store.get(self.key)"


@pytest.mark.parametrize("after", ["pass", LOOKS])
def test_a_step_at_any_time(after, tmp_path):
    """A step in which the code looks at the clock is another one at another time."""
    tree = ClientTree(program(tmp_path, textwrap.dedent(after)), 0, merge=True)

    early, late = (tree.step(0, Input(0, None, at_ms)) for at_ms in (0, 2000))

    assert (tree.nodes[early].pending == tree.nodes[late].pending) is (after == "pass")
    assert (early == late) is (after == "pass")
    tree.close()
