"""Test that a kept promise with losses by another cause is marked wherever it is shown."""

import msgspec
import pytest

from lab.evidence.run_folder import save
from lab.experiments.matrix_round import count
from lab.report import matrix_page, site
from lab.report.matrix import Cell, Origin, in_short
from lab.story import say
from tests.kept_runs import folders
from tests.pages import cells_of, rows_of

CELLS = [
    Cell(stage="lua", scenario="rush", claim="exclusive", verdict="KEPT"),
    Cell(stage="uuid", scenario="rush", claim="exclusive", verdict="KEPT", lost=3, run="one", reason="why"),
    Cell(stage="none", scenario="rush", claim="exclusive", verdict="ADMITTED", lost=9),
]


def test_matrix_page_marks_it(tmp_path):
    """The page of the matrix marks a kept promise with losses, in its cell and in the legend."""
    page, _ = matrix_page.write_page(CELLS, tmp_path, Origin())

    text = page.read_text(encoding="utf-8")
    assert f'<button class="mark otherwise" aria-label="{say.text("cell_mark", "otherwise")}">' in text
    assert text.count('class="mark otherwise"') == 2  # the cell and the legend
    (cell,) = [one for one in cells_of(page) if one["stage"] == "uuid"]
    assert (cell["outcome"], cell["why"]) == ("KEPT: kept, 3 lost otherwise", "Why.")


@pytest.fixture
def reports(tmp_path):
    """Return the reports with a run that kept its promise and lost increments by another cause."""
    (folder,) = folders(tmp_path / "runs", "rush-lua-")
    judgement = msgspec.json.decode((folder / "verdict.json").read_bytes())
    save(folder / "verdict.json", judgement | {"lost": 3, "final": judgement["final"] - 3})
    return tmp_path


def test_site_marks_it(reports):
    """The row of the run shows the losses."""
    assert [row["headline"] for row in rows_of(site.write(reports))] == ["KEPT, 3 lost otherwise"]


def test_losses_of_a_later_round_are_shown():
    """If a later round of a cell lost increments, the cell shows them although its first round lost none."""
    first = msgspec.structs.replace(CELLS[0], verdict="KEPT")

    count(first, msgspec.structs.replace(first, lost=2, reason="2 increments lost otherwise"))

    assert (in_short(first), first.rounds) == ("kept, 2 lost otherwise", {"KEPT": 2})
