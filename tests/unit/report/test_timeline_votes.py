"""Test the votes of five lock servers, from events made by hand."""

import pytest

from lab.evidence.history import KeyEvent
from lab.report.lanes.drawing import compose
from lab.report.timeline_votes import majority_ends, voters_of
from lab.story.from_run import of_a_fault
from lab.story.happening import Kind
from lab.story.timeline import NEVER
from tests.builders import MS, Made, picture_of


def reported(made: Made, event: str, at_ms: int, *nodes: int) -> None:
    """Write an event of the lock's key, as each of these servers reports it."""
    for node in nodes:
        made.line("server.jsonl", KeyEvent(at_ms * MS, event, "lock", f"lock-redis-{node}"))


@pytest.fixture
def forgotten(made):
    """r0 has the votes of servers 1, 2 and 3; server 3 forgets its vote, and r1 gets in with the votes of 3, 4 and 5."""
    reported(made, "set", 10, 1, 2, 3)
    reported(made, "set", 30, 3, 4, 5)
    reported(made, "del", 45, 3, 4, 5)
    reported(made, "del", 61, 1, 2)
    made.increment("r0", 0, 1, at=(11, 12, 59, 60), asked=9, released=62)
    made.increment("r1", 0, 0, at=(31, 32, 40, 44), asked=29, released=46, replica="replica-2")
    made.fault("restart_nodes", "r0", 20, 60)
    return made


def test_each_vote_has_its_grant(forgotten):
    """A vote belongs to the grant whose acquire set its key; a vote that is given again was forgotten at the fault."""
    picture = picture_of(forgotten, final=1, ttl_ms=3000)

    assert picture.voters == [f"server {number}" for number in range(1, 6)]
    of = {held.request: place for place, held in enumerate(picture.held)}
    assert picture.voted_for(of["r0"]) == {0, 1, 2}
    assert picture.voted_for(of["r1"]) == {2, 3, 4}
    assert [(vote.place, vote.how, vote.gone) for vote in picture.votes if vote.how == "forgotten"] == [(2, "forgotten", 9_000)]
    # a lease of three votes ends with the first of them that is lost; fewer than three votes are no majority
    assert majority_ends(picture)[of["r0"]] == 9_000
    assert majority_ends(picture)[of["r1"]] == 34_000
    picture.votes = [vote for vote in picture.votes if vote.place != 4]
    assert of["r1"] not in majority_ends(picture)


def test_votes_are_drawn(forgotten):
    """The picture has a row for each server, and each vote given or forgotten has a mark."""
    picture = picture_of(forgotten, final=1, ttl_ms=3000)

    pen = compose(picture)

    assert {"vote_of_title", "vote_forgotten"} <= set(pen.marks)
    assert "lease" not in pen.marks
    assert (pen.texts.count("r0"), pen.texts.count("r1")) == (4, 4)  # in the rows of three servers and of a replica


@pytest.mark.parametrize(("late_ms", "voters"), [((17, 25, 53), {0, 1, 4}), ((17, 25, 153), set())])
def test_late_votes_are_the_grants_own(made, late_ms, voters):
    """Votes that the lab receives after a grant belong to that grant; if they come too late, its votes are unknown."""
    reported(made, "set", 10, 3, 4)  # of a request that had no majority
    reported(made, "del", 20, 3, 4)
    for server, late in zip((1, 2, 5), late_ms, strict=True):
        reported(made, "set", 100 + late, server)
    made.increment("r0", 0, 0, at=(100, 101, 118, 400), asked=99, released=402)
    made.increment("r1", 1, 1, at=(500, 501, 502, 503), asked=499, released=504)
    made.fault("restart_nodes", "r1", 50, 60)

    picture = picture_of(made, final=2, ttl_ms=3000)
    (next_one,) = [one for one in of_a_fault(picture, picture.faults[0]) if one.kind is Kind.NEXT_GOT]

    assert picture.voted_for(0) == voters
    assert (next_one.value, next_one.of) == ((3, 5) if voters else (0, 0))


def test_loser_has_no_majority(made):
    """A vote that its request takes back without a grant belongs to no grant."""
    reported(made, "set", 10, 1, 2, 3)
    reported(made, "set", 10, 4)
    reported(made, "del", 13, 4)
    reported(made, "del", 21, 1, 2, 3)
    made.increment("r0", 0, 0, at=(11, 12, 18, 20), asked=9, released=22)

    picture = picture_of(made, final=1, ttl_ms=3000)

    assert [(vote.place, vote.holder) for vote in picture.votes] == [(0, 0), (1, 0), (2, 0), (3, NEVER)]


def test_few_servers_do_not_vote(forgotten):
    """Fewer than three lock servers have no votes."""
    assert voters_of(["lock-redis-1", "lock-replica-1", "lock-redis-2"]) == []
    assert voters_of(["", "lock-redis"]) == []
