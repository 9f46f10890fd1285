"""Test several servers as one table, and the commands whose moment no client can notice. A dictionary stands for Redis."""

from types import SimpleNamespace

import pytest

from lab.explore.code.operation import LOCK, CommandSent, FanOut
from lab.explore.search.event import NONE
from lab.explore.search.ghosts import beginning
from lab.explore.search.reductions import NewCommand, ServersDiffer, ServerSymmetry, UnnoticedCommands
from lab.explore.search.state import RUNS, Flight, State
from lab.explore.search.world import World
from lab.explore.store.real_redis import Key
from lab.explore.store.resp import Reply
from lab.explore.store.table import Nodes, Transition

SET, RELEASE = {one: (b"SET", one) for one in (b"A", b"B")}, {one: (b"RELEASE", one) for one in (b"A", b"B")}
OK, NIL = Reply(b"+OK\r\n", b"OK"), Reply(b"$-1\r\n", None)


class NoClock:
    """A server that never asks for the time."""

    def needs_clock(self, words):
        return False


class Table:
    """A server that knows SET … NX and a release: state 0 is empty, 1 has A's key, 2 has B's."""

    empty = 0
    contents = ((), (Key(b"L", b"A", 3000),), (Key(b"L", b"B", 3000),))
    real = NoClock()

    def answer(self, state, command, now_ms=0, version=2):
        name, owner = command
        mine = 1 if owner == b"A" else 2
        if name == b"SET":
            return Transition(state or mine, NIL if state else OK, ())
        return Transition(0 if state == mine else state, Reply(b"", int(state == mine)), ())

    def later(self, state, passed_ms):
        return 0

    def expires_in_ms(self, state):
        return 3000 if state else None


def state_of(nodes, each, flights=()):
    return State((0, 0), (RUNS,) * 2, nodes.number(each), 0, 0, NONE, beginning(2), flights=flights)


def test_servers_are_independent():
    """A command changes one server, time changes all, and each key has the number of its server."""
    nodes = Nodes([Table()] * 3)
    after = nodes.answer(nodes.answer(0, SET[b"A"], node=1).state, SET[b"B"], node=3).state

    assert nodes.each[after] == (1, 0, 2)
    assert [key.name for key in nodes.contents[after]] == [b"L@1", b"L@3"]
    assert nodes.each[nodes.emptied(after, 3)] == (1, 0, 0)
    assert nodes.each[nodes.later(after, 3000)] == (0, 0, 0)


def test_equal_servers_are_folded():
    """States that differ only in the order of their servers become one, and a group of equal servers has one move."""
    nodes = Nodes([Table()] * 3)
    symmetry = ServerSymmetry(nodes, 3)
    flight = Flight(0, 0, 0, ((b"OK",), None, None))
    one = state_of(nodes, (1, 0, 0), (flight,))
    other = state_of(nodes, (0, 0, 1), (flight._replace(answers=(None, None, (b"OK",))),))

    assert symmetry.ordered(one) == symmetry.ordered(other)
    assert sorted(symmetry.order(symmetry.ordered(one)).groups.values()) == [1, 2]


@pytest.mark.parametrize("operation", [CommandSent(LOCK, (b"GET",), node=2), FanOut((CommandSent(LOCK, (b"GET",), node=1),) * 2)])
def test_servers_that_are_not_treated_alike(operation):
    """A stage that sends a command to one server alone, or not to all, raises ServersDiffer."""
    with pytest.raises(ServersDiffer):
        ServerSymmetry(Nodes([Table()] * 2), 2).check(operation)


def learned(*sent):
    unnoticed = UnnoticedCommands(Table(), len(sent))
    for client, commands in enumerate(sent):
        for words in commands:
            unnoticed.sends(client, words)
    return unnoticed


def test_unnoticed_commands():
    """No client can notice when a release without a vote runs; the answer of a SET depends on the commands before it."""
    unnoticed = learned((SET[b"A"], RELEASE[b"A"]), (SET[b"B"], RELEASE[b"B"]))

    assert [unnoticed.is_unnoticed(state, 0, RELEASE[b"A"], 0) for state in (0, 1, 2)] == [True, False, True]
    assert [unnoticed.is_unnoticed(state, 0, SET[b"A"], 0) for state in (0, 1, 2)] == [False, False, False]


def test_an_unexpected_command_begins_the_search_again():
    """A new command raises NewCommand, because the decisions before it did not know of it."""
    unnoticed = learned((RELEASE[b"A"],), ())
    assert unnoticed.is_unnoticed(0, 0, RELEASE[b"A"], 0)

    with pytest.raises(NewCommand):
        unnoticed.sends(1, SET[b"A"])
    assert not unnoticed.is_unnoticed(1, 0, RELEASE[b"A"], 0)


@pytest.mark.parametrize("symmetry", [None, SimpleNamespace(order=lambda state: SimpleNamespace(groups={1: 2, 3: 1}))])
def test_servers_that_are_tried(symmetry):
    """The search tries each server, counted from 1; of equal servers, it tries the first."""
    world = SimpleNamespace(program=SimpleNamespace(servers=3), symmetry=symmetry)

    assert list(World.servers(world, None)) == ([1, 2, 3] if symmetry is None else [1, 3])
