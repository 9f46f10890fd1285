"""The first picture: what is in which bar, and which mark is at which fault."""

import re

import msgspec
import pytest

from lab.language import Language
from lab.report import hero, reference
from lab.report.chart import DARK, HARMS, LIGHT, NAMES, PAPERS, SIGNS, Mark
from lab.report.hero import FAULTS, LAST, RUNGS
from lab.report.run_data import repeat_of
from lab.scenario import reader
from lab.story import say
from tests.marks import SVG, looks_of, smallest, svg, used

SMALLEST_PX = 12  # at which the letters of the README are legible


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


def test_rounds_give_the_interval(of_none):
    """A bar is the mean of all rounds; the interval of a single run has no width."""
    once, thrice = hero.rung(lasting(of_none, 4.0), {}), hero.rung(lasting(of_none, 4.0, 5.0, 6.0), {})
    acknowledged = of_none.judgement.acknowledged

    assert once.acknowledged == (acknowledged / 4, acknowledged / 4, acknowledged / 4, 1)
    assert thrice.acknowledged.value == pytest.approx(acknowledged * (1 / 4 + 1 / 5 + 1 / 6) / 3)
    assert thrice.acknowledged.low < acknowledged / 6 < acknowledged / 4 < thrice.acknowledged.high
    assert "one run each" in hero.conditions([once])
    assert "the mean of 3 runs in turn" in hero.conditions([thrice])
    assert "the mean of 1 to 3 runs in turn" in hero.conditions([once, thrice])


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
    assert hero.finding(rows).startswith("Each stage mends the one before. Without a lock, ")
    watchdog = [row.stage for row in rows].index("watchdog")
    rows[watchdog] = rows[watchdog]._replace(marks=(Mark.LOST, *rows[watchdog].marks[1:]))
    assert not hero.staircase(rows)
    assert hero.finding(rows).startswith("The faults harm 8 stages. ")


@pytest.mark.parametrize("name", PAPERS)
def test_picture_has_bars_and_marks(name, tmp_path, of_none):
    """A bar has two parts in the colours of their meanings, and each harm has its sign and its word."""
    paper = PAPERS[name]
    row = hero.rung(lasting(of_none, 4.0, 5.0), {(fault, "none"): mark for fault, mark in zip(FAULTS, HARMS, strict=False)})
    root = svg(hero.write_picture([row], tmp_path / "one.svg", name))

    colours = {paper.stays: row.stays.value, paper.vanished: row.vanishes.value}
    bars = [one for one in root.iter(f"{SVG}rect") if one.get("height") == "21"]
    assert [one.get("fill") for one in bars] == list(colours)
    widths = [float(one.get("width")) for one in bars]
    assert widths[0] / widths[1] == pytest.approx(row.stays.value / row.vanishes.value, rel=0.01)
    assert float(bars[1].get("x")) == pytest.approx(float(bars[0].get("x")) + widths[0])
    assert used(root)[: len(HARMS)] == used(root, "key")[: len(HARMS)] == list(HARMS)
    for mark in HARMS:
        assert [one.text for one in looks_of(root)[mark].iter(f"{SVG}text")] == [SIGNS[mark], say.text("cell_mark", NAMES[mark])]
        assert [one.text for one in looks_of(root, "key")[mark].iter(f"{SVG}text")] == [SIGNS[mark]]


@pytest.mark.parametrize("name", PAPERS)
def test_letters_are_legible(name, tmp_path):
    """No letter of the picture is smaller than 12 px at the width at which the README shows it."""
    root = svg(hero.draw(tmp_path, name))

    assert len(list(root.iter(f"{SVG}text"))) > 60
    assert smallest(root) >= SMALLEST_PX
    assert float(root.get("width")) == hero.WIDTH


@pytest.mark.parametrize("name", PAPERS)
def test_picture_in_chinese(name, tmp_path):
    """The Chinese picture is the same drawing: all its words but the names of stages are Chinese, and no figure differs."""
    english, chinese = (svg(hero.draw(tmp_path, name, language)) for language in Language)
    before, after = ([one.text for one in root.iter(f"{SVG}text")] for root in (english, chinese))

    left = [text for text in after if re.search("[A-Za-z]{2}", re.sub("Redis|key|[0-9]", "", text)) and text not in RUNGS]
    assert left == []
    assert len(before) == len(after)
    figures = [[sorted(re.findall(r"(?<!\+)[0-9\u202f]+", text)) for text in texts] for texts in (before, after)]
    assert figures[0] == figures[1]
    assert used(english) == used(chinese)
    assert "Noto Sans CJK SC" in chinese.get("font-family")


def test_one_colour_a_meaning():
    """Each mark has a meaning and a sign, and no two harms share a colour or a sign."""
    assert set(SIGNS) == set(Mark)
    assert all(set(say.words(language)["cell_meaning"]) == set(NAMES.values()) for language in Language)
    for paper in (LIGHT, DARK):
        assert len({paper.ground[mark] for mark in (*HARMS, Mark.KEPT)}) == len(HARMS) + 1
    assert len({SIGNS[mark] for mark in HARMS}) == len(HARMS)
    assert LAST in RUNGS
