"""The picture of what a lock costs compares the locks over the same scenarios."""

from __future__ import annotations

from lab.docgen import chapters, cost_of_locking
from lab.report import reference


def test_compared_locks_share_their_scenarios():
    """Each counted scenario fits each compared lock, so no lock looks worse because more was tried on it."""
    common = cost_of_locking.common_scenarios()

    ran = {(cell.stage, cell.scenario) for cell in reference.cells() if cell.verdict}
    assert len(cost_of_locking.compared()) > 10
    assert len(common) > 10
    assert all((lock, scenario) in ran for lock in cost_of_locking.compared() for scenario in common)


def test_price_title_has_the_common_number():
    """The title and the axis state of how many scenarios the counts are."""
    figure, common = cost_of_locking._price_figure(), cost_of_locking.common_scenarios()

    kept, price = figure.axes
    assert f"of the same {len(common)} tested claims" in figure.get_suptitle()
    assert str(len(common)) in kept.get_xlabel()
    assert "kept a second" in price.get_xlabel()
    assert max(bar.get_width() for bar in kept.patches) <= 1


def test_table_of_a_chapter_marks_other_losses():
    """A claim that was kept next to other losses says so in its stage's chapter."""
    lines = [line for line in chapters.PARTS["verdicts"]("uuid").splitlines() if "`slow_holder`" in line]

    assert lines == ["| `slow_holder` | `releases_only_its_own` | yes | KEPT, 4 lost otherwise |"]
