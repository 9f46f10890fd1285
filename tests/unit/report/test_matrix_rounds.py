"""How often a cell's verdict came is shown in words, in the picture and on the page."""

from __future__ import annotations

import pytest

from lab.report import matrix_page, matrix_picture
from lab.report.matrix import Cell, Origin, in_percent
from lab.report.statistics import wilson
from lab.story.say import text
from tests.every import every
from tests.pages import cells_of

ORIGIN = Origin(judge="aaa", commit="ccc+", versions={"etcd": "etcd Version: 3.4.23"})
SENTENCE = "Measured at commit ccc+ (with changes that were not committed), by the judge aaa. Stores: etcd 3.4.23."
CELLS = [
    Cell(stage="lua", scenario="rush", claim="exclusive", verdict="KEPT", rounds={"KEPT": 3, "VOID": 2}),
    Cell(stage="none", scenario="rush", claim="exclusive", verdict="BROKEN", lost=9, rounds={"BROKEN": 5}),
    Cell(stage="local", scenario="rush", claim="exclusive", reason="does not fit"),
]


@every(
    "seen, rounds, interval",
    [
        (0, 1, (0.0, 0.793450685623)),
        (1, 1, (0.206549314377, 1.0)),
        (2, 5, (0.117620774233, 0.769275718724)),
        (5, 5, (0.565517535217, 1.0)),
        (199, 200, (0.972226295602, 0.999116831284)),
    ],
)
def test_interval_is_wilsons(seen, rounds, interval):
    """The interval is the one that scipy 1.17 computes: ``binomtest(seen, rounds).proportion_ci(0.95, method="wilson")``."""
    assert wilson(seen, rounds) == pytest.approx(interval)


def test_interval_in_words():
    assert in_percent(5, 5) == "57 to 100 %"


def test_picture_has_origin_and_rounds():
    """The origin stands below the picture, with the number of cells whose rounds differ."""
    assert matrix_picture.below(CELLS, ORIGIN) == f"A cell is 5 runs; in 1 cell the verdicts of these runs differ. {SENTENCE}"
    assert matrix_picture.below(CELLS[1:], ORIGIN) == f"A cell is 5 runs, all with the same verdict. {SENTENCE}"


def test_title_counts_every_verdict():
    """The title counts what was kept, broken and not shown, each for itself."""
    cells = [*CELLS, Cell(stage="ttl", scenario="rush", claim="exclusive", verdict="VOID")]

    assert matrix_picture.finding(cells) == "1 of 3 cells kept the tested promise; 1 broke it; 1 proved nothing"


def test_page_has_origin_and_rounds(tmp_path):
    """A cell that is opened has how often its verdict came; the origin stands below the page."""
    page, _ = matrix_page.write_page(CELLS, tmp_path, ORIGIN)

    found = {one["stage"]: one for one in cells_of(page)}
    assert found["lua"]["rounds"] == text("matrix_page", "rate", n=5, seen=3, verdict="KEPT", low=23, high=88)
    assert (found["local"]["outcome"], found["local"]["why"]) == (
        text("cell_mark", "impossible"),
        text("matrix_page", "does_not_fit"),
    )
    html = page.read_text(encoding="utf-8")
    assert f'✓<span class="order">{text("matrix_page", "seen_of", seen=3, all=5)}</span>' in html
    assert f'− {text("cell_mark", "lost")}<span class="order">{text("matrix_page", "broken")}</span>' in html
    assert SENTENCE in html


def test_scenarios_measured_again_are_named():
    """Scenarios and stages that were added or mended later stand below the matrix, with their commit."""
    assert "and measured at" not in ORIGIN.sentence()
    again = Origin(commit="ccc", later={"rush": "ddd", "nested": "ddd"}).sentence()
    assert "Added or mended since, and measured at commit ddd: nested, rush." in again
