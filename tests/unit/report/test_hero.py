"""The first picture: what is in which bar, and which mark is at which fault."""

import msgspec
import pytest

from lab.report import hero, reference
from lab.report.chart import Mark
from lab.report.hero import FAULTS, RUNGS
from lab.report.run_data import repeat_of
from lab.scenario import reader


@pytest.fixture
def of_none():
    """The reference's run of none."""
    return reference.of_stage("none")


def lasting(result, *durations_s):
    """The same result with one round for each duration."""
    one = repeat_of(result.judgement, 3)
    rounds = [msgspec.structs.replace(one, round=place + 1, duration_s=lasted) for place, lasted in enumerate(durations_s)]
    return msgspec.structs.replace(result, rounds=rounds)


def test_bar_is_what_was_acknowledged(of_none):
    """The two parts of a bar add up to what was acknowledged a second, and the first part is what the counter kept."""
    judgement = of_none.judgement
    row = hero.rung(lasting(of_none, judgement.duration_s), {})

    assert row.stays.value + row.vanishes.value == pytest.approx(row.acknowledged.value)
    assert row.acknowledged.value == pytest.approx(judgement.acknowledged / judgement.duration_s)
    assert row.stays.value == pytest.approx(judgement.kept / judgement.duration_s)
    assert row.vanishes.value > row.stays.value


def test_marks_stand_at_their_faults(of_none):
    """Each fault has the mark of its cell; a fault without a cell is not tried, not harmless."""
    row = hero.rung(of_none, {("rush", "none"): Mark.LOST, ("nested", "none"): Mark.IMPOSSIBLE, ("rush", "lua"): Mark.KEPT})

    assert dict(zip(FAULTS, row.marks, strict=True)) == dict.fromkeys(FAULTS, Mark.UNTRIED) | {
        "rush": Mark.LOST,
        "nested": Mark.IMPOSSIBLE,
    }
    assert row.harmed == ["rush"]


def test_reference_is_a_staircase():
    """Each rung is first harmed by a later fault than the one before it; the title does not say so where one is not."""
    rows = hero.rungs()

    assert set(FAULTS) <= set(reader.names())
    assert [row.stage for row in rows] == list(RUNGS)
    assert hero.staircase(rows)
    assert [row.harmed[0] for row in rows[:5]] == ["one_replica", "rush", "holder_crash", "slow_holder", "release_race"]
    watchdog = [row.stage for row in rows].index("watchdog")
    rows[watchdog] = rows[watchdog]._replace(marks=(Mark.LOST, *rows[watchdog].marks[1:]))
    assert not hero.staircase(rows)
