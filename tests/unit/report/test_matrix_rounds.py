"""How often a cell's verdict came is shown in words, in the picture and on the page."""

from __future__ import annotations

import pytest
from scipy import stats

from lab.report import matrix_picture
from lab.report.matrix import Cell, in_full
from lab.report.matrix_origin import Origin
from lab.report.rate import in_percent, wilson

ORIGIN = Origin(judge="aaa", commit="ccc+", versions={"etcd": "etcd Version: 3.4.23"})
SENTENCE = "Measured at commit ccc+ (with changes that were not committed), by the judge aaa. Stores: etcd 3.4.23."
CELLS = [
    Cell(stage="lua", scenario="rush", claim="exclusive", verdict="KEPT", rounds={"KEPT": 3, "VOID": 2}),
    Cell(stage="none", scenario="rush", claim="exclusive", verdict="BROKEN", lost=9, rounds={"BROKEN": 5}),
    Cell(stage="local", scenario="rush", claim="exclusive", reason="does not fit"),
]


@pytest.mark.parametrize(("seen", "rounds"), [(0, 1), (1, 1), (2, 5), (5, 5), (199, 200)])
def test_interval_is_wilsons(seen, rounds):
    """The interval is the one that scipy computes."""
    assert wilson(seen, rounds) == pytest.approx(stats.binomtest(seen, rounds).proportion_ci(0.95, method="wilson"))


def test_interval_in_words():
    assert in_percent(5, 5) == "57 to 100 %"
    assert in_full(CELLS[0]) == "3 of 5 runs were KEPT; with 95 % confidence, 23 to 88 % of such runs are."
    assert in_full(CELLS[2]) == ""


def test_picture_has_origin_and_rounds():
    """The origin stands below the picture; a cell whose rounds differ has their number."""
    figure = matrix_picture._figure(CELLS, ORIGIN)

    assert (
        figure.get_supxlabel().replace("\n", " ")
        == f"A cell is 5 runs, all with the same verdict unless it has a number. {SENTENCE}"
    )
    assert [text.get_text() for text in figure.axes[0].texts] == ["kept\n3 of 5", "broken: lost 9", "–"]


def test_title_counts_every_verdict():
    """The title counts what was kept, broken and not shown, each for itself."""
    cells = [*CELLS, Cell(stage="ttl", scenario="rush", claim="exclusive", verdict="VOID")]

    assert matrix_picture.finding(cells) == "1 of 3 cells kept the tested promise; 1 broke it; 1 proved nothing"


def test_page_has_origin_and_rounds(tmp_path):
    page, *_ = matrix_picture.draw(CELLS, tmp_path, ORIGIN)

    text = page.read_text(encoding="utf-8")
    assert "kept, 3 of 5 (23 to 88 %)" in text
    assert 'title="3 of 5 runs were KEPT; with 95 % confidence, 23 to 88 % of such runs are."' in text
    assert 'title="does not fit"' in text
    assert SENTENCE in text
