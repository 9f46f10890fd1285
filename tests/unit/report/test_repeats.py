"""Test the rounds of a ladder: their file, their means, and their results."""

import math

import msgspec
import pytest

from lab.paths import REFERENCE
from lab.report import run_data
from lab.report.comparison import share
from lab.report.run_data import repeat_of, rounds_in
from lab.report.statistics import geometric_mean
from tests.every import every
from tests.kept_runs import of_ladder


@every(
    "samples, value",
    [
        ([0.5, 2.0], 1.0),
        ([0.3], 0.3),
        ([0.0, 4.0], 2.0),  # no logarithm
    ],
)
def test_mean_has_the_least_and_the_most(samples, value):
    """The mean of samples is geometric, or arithmetic if one is 0, and has the least and the most sample."""
    assert geometric_mean(samples) == pytest.approx((value, min(samples), max(samples), len(samples)))


def rounds_of(result, number):
    """Return this many rounds of a result; each takes a second longer than the round before."""
    one = repeat_of(result.judgement, result.record.scenario["replicas"])
    return [msgspec.structs.replace(one, round=place + 1, duration_s=one.duration_s + place) for place in range(number)]


def test_results_get_their_rounds():
    """A result whose run is in a round gets all rounds of its stage with its number of replicas, and no others."""
    lua, none, alone = (of_ladder(f"-{name}-") for name in ("rush-lua", "rush-none", "one_replica-none"))
    known = [*rounds_of(lua, 3), *rounds_of(none, 2), *rounds_of(alone, 1)]

    run_data.with_rounds([lua, none, alone], known)

    assert [len(result.repeats) for result in (lua, none, alone)] == [3, 2, 1]
    assert {one.replicas for one in none.repeats} == {3}
    run_data.with_rounds([lua], known[3:])
    assert (lua.rounds, len(lua.repeats)) == ([], 1)


def test_reference_rounds_are_of_its_ladder():
    """The runs of the reference's first round are in its ladder."""
    runs = {*run_data.kept(REFERENCE / run_data.KEPT)}

    assert {one.run for one in rounds_in(REFERENCE) if one.round == 1} <= runs


def test_speeds_are_paired_by_round():
    """The ratio of two speeds is taken within each round, because a slow round of the machine slows both."""
    lua, incr = (of_ladder(f"-{name}-") for name in ("lua", "incr"))
    lua.rounds, incr.rounds = rounds_of(lua, 3), rounds_of(incr, 3)
    for one, other in zip(lua.rounds, incr.rounds, strict=True):
        one.duration_s, other.duration_s = other.duration_s * 4, other.duration_s

    found = share(lua, incr)

    assert found.value == pytest.approx(lua.rounds[0].kept / incr.rounds[0].kept / 4)
    assert math.isclose(found.low, found.high)
