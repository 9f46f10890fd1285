"""Test the default searches, and the searches that the options of a command choose."""

from dataclasses import replace

from app.locks import stages
from lab.explore.questions import PAIR, SINGLE_FAULTS, THREE, TTL_MS, SearchOptions, by_default
from lab.explore.search.event import NONE, Budget


def test_default_searches():
    """Without options, and with a TTL alone, the explorer makes the default searches."""
    lua = stages()["lua"]

    assert SearchOptions().questions(lua) == by_default(lua, TTL_MS)
    assert SearchOptions(ttl_ms=2000).questions(lua) == by_default(lua, 2000) != by_default(lua, TTL_MS)


def test_chosen_searches():
    """An option that chooses searches replaces the default ones: no fault, long work, and each fault once."""
    chosen = SearchOptions(clients=THREE).questions(stages()["lua"])

    assert {one.replicas for one in chosen} == {THREE}
    assert [one.task.work_ms for one in chosen if one.budget == NONE] == [0, 5000]
    assert [one.budget for one in chosen if one.budget != NONE] == [Budget(**{name: 1}) for name in Budget._fields]


def test_requests_of_a_replica():
    """Requests in turn are served by two replicas one after the other, and requests at once by one replica."""
    (in_turn,), (at_once,) = (
        SearchOptions(work_ms=0, budget=NONE, **{name: 2}).questions(stages()["lua"]) for name in ("in_turn", "at_once")
    )

    assert [(one.replicas, one.task.at_once, one.task.in_turn) for one in (in_turn, at_once)] == [(PAIR, 1, 2), (1, 2, 1)]


def test_ttls_of_a_lock():
    """A lock whose TTL is in its code, or must be whole seconds, is searched with no other TTL."""
    fixed = replace(stages()["lua"], has_fixed_ttl=True, ttl_ms=2000)
    whole = replace(stages()["lua"], ttl_step_ms=1000)

    assert {one.task.ttl_ms for one in SearchOptions(ttl_ms=5000).questions(fixed)} == {2000}
    assert {one.task.ttl_ms for one in by_default(stages()["lua"], 2000)} == {2000, 1900}
    assert {one.task.ttl_ms for one in by_default(whole, 2000)} == {2000}


def test_cheapest_first():
    """The searches begin without a fault, then have each fault once, and end with two faults."""
    of_two = [one.budget for one in by_default(stages()["lua"], TTL_MS) if one.replicas == PAIR]

    assert of_two[0] == NONE
    assert [one for one in dict.fromkeys(of_two) if sum(one) == 1] == SINGLE_FAULTS
    assert [sum(one) for one in of_two[-3:]] == [2, 2, 2]
