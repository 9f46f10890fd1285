"""The picture of what a lock costs compares the locks over the same scenarios."""

import pytest

from app.locks import stages
from lab.report import reference
from lab.report.matrix import Cell
from lab.report.reference import Outcome, tally
from lab.scenario import reader
from tools.book import cost_of_locking


def test_compared_locks_share_their_scenarios():
    """Each counted scenario fits each compared lock, so no lock looks worse because more was tried on it."""
    common = cost_of_locking.common_scenarios()

    ran = {(cell.stage, cell.scenario) for cell in reference.cells() if cell.verdict}
    assert len(cost_of_locking.compared()) > 10
    assert len(common) > 10
    assert all((lock, scenario) in ran for lock in cost_of_locking.compared() for scenario in common)


@pytest.mark.whole
def test_price_title_has_the_common_number():
    """The title and the axis state of how many scenarios the counts are."""
    figure, common = cost_of_locking._price_figure(), cost_of_locking.common_scenarios()

    kept, price = figure.axes
    assert f"of the same {len(common)} tested claims" in figure.get_label()
    assert str(len(common)) in kept.get_xlabel()
    assert "kept a second" in price.get_xlabel()
    assert max(bar.get_width() for bar in kept.patches) <= 1


def test_shares_have_one_denominator():
    """For every stage the kept, failed and untried scenarios add up to all scenarios."""
    sums = {sum(tally(name).values()) for name in cost_of_locking.by_speed()}

    assert sums == {len(reader.names())}


@pytest.fixture
def made_cells(monkeypatch):
    """Let the reference matrix have these cells: a verdict, and how many increments were lost."""

    def make(**of: tuple[str, int]) -> None:
        made = [
            Cell(stage=stage, scenario="nested_two_locks", claim="breaks_deadlock", verdict=verdict, lost=lost)
            for stage, (verdict, lost) in of.items()
        ]
        monkeypatch.setattr(reference, "cells", lambda: made)

    return make


def test_losses_are_no_keeping(made_cells):
    """A stage that lost increments while it kept a claim is not counted as a stage that keeps it."""
    made_cells(mysql_for_update=("KEPT", 0), lua=("KEPT", 2), watchdog=("ADMITTED", 0), redlock=("VOID", 0))
    found = {name: [one for one, number in tally(name).items() if number == 1] for name in stages()}

    assert found["mysql_for_update"] == [Outcome.KEPT]
    assert found["lua"] == [Outcome.LOST_OTHERWISE]
    assert found["watchdog"] == [Outcome.FAILED]
    assert found["redlock"] == []


def test_no_promise_is_admitted():
    """No chapter says that a claim was made and that its failure was admitted."""
    promised = [cell for cell in reference.cells() if cell.verdict == "ADMITTED" and cell.claim in names_of_claims(cell.stage)]

    assert promised == []


def names_of_claims(stage: str) -> set[str]:
    return {claim.name for claim in stages()[stage].claims}
