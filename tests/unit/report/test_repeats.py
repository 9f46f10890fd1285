"""The rounds of a ladder: their file, their intervals, and the results for which they stand."""

import math

import msgspec
import pytest

from lab.paths import REFERENCE
from lab.report import run_data
from lab.report.charts import speeds
from lab.report.run_data import repeat_of, rounds_in
from lab.report.statistics import mean, mean_of_ratios
from tests.every import every
from tests.kept_runs import of_ladder

SAMPLES = [3.0, 4.0, 4.5, 7.0, 9.0]


@every(
    "number, low, high",
    [
        (2, -2.853102368087, 9.853102368087),
        (3, 1.936041816535, 5.730624850132),
        (101, 5.039959301826, 5.910535747679),
    ],
)
def test_interval_is_students(number, low, high):
    """The interval is the one that scipy 1.17 computes: ``t.interval(0.95, number - 1, loc=mean, scale=sem(samples))``."""
    samples = (SAMPLES * 21)[:number]

    assert mean(samples) == pytest.approx((sum(samples) / number, low, high, number), rel=1e-9)


def test_ratios_have_a_geometric_mean():
    value, low, high, runs = mean_of_ratios([0.5, 2.0])

    assert (value, runs) == (pytest.approx(1.0), 2)
    assert low * high == pytest.approx(1.0)
    assert mean_of_ratios([0.3]) == pytest.approx((0.3, 0.3, 0.3, 1))


def rounds_of(result, number):
    """So many rounds of a result, each a second longer than the round before."""
    one = repeat_of(result.judgement, result.record.scenario["replicas"])
    return [msgspec.structs.replace(one, round=place + 1, duration_s=one.duration_s + place) for place in range(number)]


def test_results_get_their_rounds():
    """A result whose run is in a round gets all rounds of its stage, not those of another stage or number of replicas."""
    lua, none, alone = (of_ladder(f"-{name}-") for name in ("rush-lua", "rush-none", "one_replica-none"))
    known = [*rounds_of(lua, 3), *rounds_of(none, 2), *rounds_of(alone, 1)]

    run_data.with_rounds([lua, none, alone], known)

    assert [len(result.repeats) for result in (lua, none, alone)] == [3, 2, 1]
    assert {one.replicas for one in none.repeats} == {3}
    run_data.with_rounds([lua], known[3:])
    assert (lua.rounds, len(lua.repeats)) == ([], 1)


def test_reference_rounds_are_of_its_ladder():
    """The first round of the reference is its ladder."""
    runs = {*run_data.kept(REFERENCE / run_data.KEPT)}

    assert {one.run for one in rounds_in(REFERENCE) if one.round == 1} <= runs


def test_speeds_are_paired_by_round():
    """The ratio of two speeds is taken round by round: a slow round of the machine meets both."""
    lua, incr = (of_ladder(f"-{name}-") for name in ("lua", "incr"))
    lua.rounds, incr.rounds = rounds_of(lua, 3), rounds_of(incr, 3)
    for one, other in zip(lua.rounds, incr.rounds, strict=True):
        one.duration_s, other.duration_s = other.duration_s * 4, other.duration_s

    found = speeds.ratio(lua, incr)

    assert found.value == pytest.approx(lua.rounds[0].kept / incr.rounds[0].kept / 4)
    assert math.isclose(found.low, found.high)
