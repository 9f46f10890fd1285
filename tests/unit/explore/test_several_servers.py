"""Several servers as one table, votes as a lock, and which moments nobody can notice. A dictionary stands for Redis."""

from __future__ import annotations

import pytest

from app.lock import Claim
from lab.explore.alike import Alike, NotAlike
from lab.explore.budget import Budget
from lab.explore.ghosts import Ghosts, Hold, Why
from lab.explore.nodes import Nodes
from lab.explore.operation import LOCK, Command, FanOut, Grant
from lab.explore.parking import AWAKE
from lab.explore.rules import Executed, Finding, charged, executed, restarted
from lab.explore.server_table import Answer, Key
from lab.explore.state import RUNS, Flight, State
from lab.explore.unnoticed import NewCommand, Unnoticed
from lab.explore.votes import Votes

SET, RELEASE = {one: (b"SET", one) for one in (b"A", b"B")}, {one: (b"RELEASE", one) for one in (b"A", b"B")}
FIVE = Votes(5)


class Table:
    """A server that knows SET … NX and a release: state 0 is empty, 1 has A's key, 2 has B's."""

    empty = 0
    contents = ((), (Key(b"L", b"A", 3000),), (Key(b"L", b"B", 3000),))

    def answer(self, state, command):
        name, owner = command
        mine = 1 if owner == b"A" else 2
        if name == b"SET":
            return Answer(state or mine, None if state else b"OK", ())
        return Answer(0 if state == mine else state, int(state == mine), ())

    def later(self, state, passed_ms):
        return 0

    def expires_in_ms(self, state):
        return 3000 if state else None


def state_of(nodes, each, owners, flights=()):
    ghosts = Ghosts(owners, (None, None), (False, False), (0, 0))
    return State(
        (0, 0), (RUNS,) * 2, (AWAKE,) * 2, nodes.number(each), 0, ((),) * 2, ((),) * 2, 0, Budget(), ghosts, flights=flights
    )


def test_servers_are_independent():
    """A command changes one server, time changes all, and the keys have the numbers of their servers."""
    nodes = Nodes([Table()] * 3)
    after = nodes.answer(nodes.answer(0, SET[b"A"], 1).state, SET[b"B"], 3).state

    assert nodes.each[after] == (1, 0, 2)
    assert [key.name for key in nodes.contents[after]] == [b"L@1", b"L@3"]
    assert nodes.each[nodes.emptied(after, 3)] == (1, 0, 0)
    assert nodes.each[nodes.later(after, 3000)] == (0, 0, 0)


def test_equal_servers_are_folded():
    """States that differ only in the numbers of the servers become one; a group of equal servers has one move."""
    nodes = Nodes([Table()] * 3)
    alike = Alike(nodes, Votes(3))
    flight = Flight(0, 0, 0, ((b"OK",), None, None))
    one = state_of(nodes, (1, 0, 0), ((b"L@1", 0),), (flight,))
    other = state_of(nodes, (0, 0, 1), ((b"L@3", 0),), (flight._replace(answers=(None, None, (b"OK",))),))

    assert alike.ordered(one) == alike.ordered(other)
    assert sorted(alike.groups(alike.ordered(one)).values()) == [1, 2]


@pytest.mark.parametrize("operation", [Command(LOCK, (b"GET",), node=2), FanOut((Command(LOCK, (b"GET",), node=1),) * 2)])
def test_servers_that_are_not_treated_alike(operation):
    """A stage that asks one server only is not folded."""
    with pytest.raises(NotAlike):
        Alike(Nodes([Table()] * 2), Votes(2)).check(operation)


def test_what_nobody_can_notice():
    """A release without a vote has no moment of its own. A try has: what others do before changes its answer."""
    unnoticed = Unnoticed(Table(), [{SET[b"A"], RELEASE[b"A"]}, {SET[b"B"], RELEASE[b"B"]}])

    assert [unnoticed.is_unnoticed(state, 0, RELEASE[b"A"]) for state in (0, 1, 2)] == [True, False, True]
    assert [unnoticed.is_unnoticed(state, 0, SET[b"A"]) for state in (0, 1, 2)] == [False, False, False]


def test_an_unexpected_command_begins_the_search_again():
    """What nobody could notice was decided with the commands that were known: another one makes all of it unsure."""
    unnoticed = Unnoticed(Table(), [{RELEASE[b"A"]}, set()])
    assert unnoticed.is_unnoticed(0, 0, RELEASE[b"A"])

    with pytest.raises(NewCommand):
        unnoticed.sends(1, SET[b"A"])
    assert not unnoticed.is_unnoticed(0, 0, RELEASE[b"A"])


def granted(owners, ttls, sent_ms=0, now_ms=0):
    keys = tuple(Key(name, b"", ttl_ms) for (name, _), ttl_ms in zip(owners, ttls, strict=True))
    ghosts = Ghosts(owners, (None, None), (False, False), (0, 0))
    step = Executed(0, False, keys, keys, keys, [Grant("L", 0)], now_ms, sent_ms, False, False, FIVE)
    return executed(ghosts, step, frozenset(FIVE.keys(b"L")))[0].holds[0]


def test_lease_of_votes():
    """A holder is entitled while it has most of the votes; with too few it never was, or its asking took too long."""
    mine = tuple((b"L@%d" % server, 0) for server in range(1, 6))

    assert granted(mine, (3000, 2000, 1000, 500, 400)) == Hold(b"L", 1000)
    assert granted(mine[:2], (3000, 3000)).why is Why.NO_LOCK
    assert granted(mine[:2], (3000, 3000), sent_ms=0, now_ms=3000).why is Why.SLOW


@pytest.mark.parametrize(("votes", "why"), [(4, Why.ENTITLED), (3, Why.VOTE_LOST)])
def test_a_server_forgets_its_vote(votes, why):
    """Without most of the votes, a holder is not entitled any more."""
    owners = tuple((b"L@%d" % server, 0) for server in range(1, votes + 1))
    ghosts = Ghosts(owners, (Hold(b"L", 3000), None), (False, False), (0, 0))

    assert restarted(ghosts, 0, FIVE, 2).holds[0].why is why


def test_claim_of_a_forgotten_vote():
    """What a forgotten vote does is charged to the claim about one of several stores."""
    found = Finding(Claim.exclusive, "the lock was granted to two holders at once")
    ghosts = Ghosts(vote_lost=True)

    assert charged(found, ghosts, Budget(restarts=1)).claim is Claim.survives_amnesia
