"""Test the facts of an event at one of several servers: the client that has its vote, and the effect on this vote."""

from types import SimpleNamespace

import pytest

from app.lock import Claim
from lab.explore.code.operation import LOCK
from lab.explore.search.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP, ScheduleEvent
from lab.explore.search.ghosts import ASKS, WORKS, Actor, Ghosts
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.story.happenings import EventFacts, breaks, of_event, of_finding
from lab.story.happening import Happening, Kind

KEY = b"L@2"


def facts(kind, before=None, after=None, asks=True, longer=False, word=b"SET", at=2):
    """Return an event of client A at a server. before, after: the client that has this server's vote."""
    lives_ms = {0: 1000, 1: 2000 if longer else 1000}
    owners = (before, after)
    keys = [[SimpleNamespace(name=KEY, ttl_ms=lives_ms[place])] if owners[place] is not None else [] for place in (0, 1)]
    world = SimpleNamespace(
        lock=SimpleNamespace(contents=keys),
        task=SimpleNamespace(at_once=1),
        program=SimpleNamespace(servers=3 if at else 1),
        node=lambda state, client: SimpleNamespace(ended=("",)),
        actor_of=lambda client, thread: client,
    )
    ghosts = Ghosts((Actor(ASKS if asks else WORKS), Actor()))
    states = [SimpleNamespace(lock=place, ghosts=ghosts, now_ms=0) for place in (0, 1)]
    command = SimpleNamespace(words=(word, b"L"), server=LOCK)
    move = SimpleNamespace(before=states[0], event=ScheduleEvent(kind, 0, node=at), command=command, state=states[1], findings=())
    owned = [{KEY: owner} if owner is not None else {} for owner in (before, after)]
    return EventFacts(world, move, 0, 0, frozenset({KEY}), *owned)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("about", "kinds", "others"),
    [
        ({"kind": STEP, "after": 0}, [Kind.VOTE], ()),
        ({"kind": STEP, "before": 1, "after": 1}, [Kind.VOTE_REFUSED], ()),
        ({"kind": STEP, "before": 0}, [Kind.VOTE_TAKEN_BACK], ()),
        ({"kind": STEP, "before": 1}, [Kind.VOTE_TAKEN_BACK_OTHERS], ("B",)),
        ({"kind": STEP, "before": 0, "after": 0, "longer": True}, [Kind.VOTE_RENEWED], ()),
        ({"kind": STEP, "before": 1, "after": 1, "longer": True}, [Kind.VOTE_RENEWED_OTHERS], ("B",)),
        ({"kind": STEP, "before": 1, "after": 1, "asks": False}, [Kind.VOTE_LEFT_OTHERS], ("B",)),
        ({"kind": STEP}, [], ()),
        ({"kind": LOST_COMMAND}, [Kind.SENT_TO_SERVER, Kind.COMMAND_LOST], ()),
        ({"kind": LOST_REPLY, "after": 0}, [Kind.VOTE, Kind.REPLY_LOST], ()),
        ({"kind": RESEND}, [Kind.SENT_TO_SERVER, Kind.SENT_AGAIN], ()),
    ],
)
def test_vote(about, kinds, others):
    """A happening names the server, the client whose vote it was, and the change of this vote."""
    found = of_event(facts(**about))

    assert [one.kind for one in found] == kinds
    assert [one.others for one in found[:1]] == [others][: len(found)]
    assert all(one.actor == "A" for one in found)
    assert all(one.servers == (2,) for one in found[:1])


@pytest.mark.parametrize("harm", Harm)
def test_finding_without_a_client(harm):
    """Each way to break a claim has a happening, also if no client is known."""
    assert of_finding(Finding(Claim.exclusive, harm)).kind in {Kind(harm), Kind.LOST_BETWEEN_HOLDERS}


def test_facts_that_are_left_out():
    """A killed client is not reported as a waiter, and a WATCH of another holder's lock is not reported as leaving it alone."""
    assert breaks(facts(STEP), Finding(Claim.acquires_atomically, Harm.LOCKED)) == Happening(Kind.LOCKED)
    assert of_event(facts(STEP, 1, 1, asks=False, word=b"WATCH", at=0)) == ()


def test_lost_increment():
    """The happening of a lost increment has the code of its reason."""
    assert of_finding(Finding(Claim.exclusive, Harm.LOST, Why.ROBBED)) == Happening(Kind.LOST, why="robbed")
