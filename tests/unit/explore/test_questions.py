"""What is searched by default, and what the options of a command choose."""

from dataclasses import replace

from app.locks import stages
from lab.explore.code.program import Task
from lab.explore.questions import PAIR, THREE, TTL_MS, Question, SearchOptions, by_default
from lab.explore.search.event import NONE, Budget


def test_default_searches():
    """Without options, and with a TTL alone, the default searches are made."""
    lua = stages()["lua"]

    assert SearchOptions().questions(lua) == by_default(lua, TTL_MS)
    assert SearchOptions(ttl_ms=2000).questions(lua) == by_default(lua, 2000) != by_default(lua, TTL_MS)


def test_chosen_searches():
    """An option that chooses a search replaces them: no fault and long work, and each fault once."""
    chosen = SearchOptions(clients=THREE).questions(stages()["lua"])

    assert {one.replicas for one in chosen} == {THREE}
    assert [one.task.work_ms for one in chosen if one.budget == NONE] == [0, 5000]
    assert [one.budget for one in chosen if one.budget != NONE] == [Budget(**{name: 1}) for name in Budget._fields]


def test_requests_of_a_replica():
    """Several requests are served one after the other by two replicas, and at once by one."""
    (in_turn,), (at_once,) = (
        SearchOptions(work_ms=0, budget=NONE, **{name: 2}).questions(stages()["lua"]) for name in ("in_turn", "at_once")
    )

    assert [(one.replicas, one.task.at_once, one.task.in_turn) for one in (in_turn, at_once)] == [(PAIR, 1, 2), (1, 2, 1)]


def test_ttls_of_a_lock():
    """A lock with one TTL in its code, or of whole seconds, is searched with no other TTL."""
    fixed, whole = (
        replace(stages()["lua"], **about) for about in ({"has_fixed_ttl": True, "ttl_ms": 2000}, {"ttl_step_ms": 1000})
    )

    assert {one.task.ttl_ms for one in SearchOptions(ttl_ms=5000).questions(fixed)} == {2000}
    assert {one.task.ttl_ms for one in by_default(stages()["lua"], 2000)} == {2000, 1900}
    assert {one.task.ttl_ms for one in by_default(whole, 2000)} == {2000}


def test_ttl_of_no_whole_second():
    """One search has a TTL that is no whole number of seconds, and work that ends just before it."""
    (odd,) = [one for one in by_default(stages()["lua"], TTL_MS) if one.task.ttl_ms != TTL_MS]

    assert (odd.task.ttl_ms, odd.task.work_ms, odd.replicas, odd.budget) == (2900, 2800, THREE, NONE)


def test_horizon():
    """A search goes on until a lock has expired twice, all have worked, and one could have been locked out."""
    assert Question(Task(TTL_MS, 500, at_once=2, in_turn=2), replicas=THREE).horizon_ms == 2 * TTL_MS + 12 * 500 + 1000


def test_cheapest_first():
    """The first searches have no fault, then each fault once; a pair of faults comes last."""
    of_two = [one.budget for one in by_default(stages()["lua"], TTL_MS) if one.replicas == PAIR]
    singles = [Budget(**{name: 1}) for name in Budget._fields]

    assert of_two[0] == NONE
    assert [one for one in dict.fromkeys(of_two) if sum(one) == 1] == singles
    assert [sum(one) for one in of_two[-3:]] == [2, 2, 2]
