"""The reference matrix: only cells that answer a question of this lab are quoted, and the image of the lab goes without it."""

from __future__ import annotations

from lab.report import reference
from lab.report.matrix import Cell
from lab.ui.ladder_panel import rungs
from tests.every import every


@every(
    "changes, quoted",
    [
        ({}, True),
        ({"scenario": "retired"}, False),
        ({"stage": "retired"}, False),
        ({"claim": "fair"}, False),  # the scenario tested another claim when the cell was measured
        ({"stage": "none"}, False),  # the scenario fitted the stage when the cell was measured, and no longer does
        ({"stage": "none", "verdict": ""}, True),  # the cell was not run
    ],
)
def test_old_cells_are_not_quoted(changes, quoted):
    """A cell that was measured before its scenario or its claim changed is not quoted."""
    cell = Cell(**{"stage": "lua", "scenario": "holder_crash", "claim": "freed_after_crash", "verdict": "KEPT"} | changes)

    assert reference.current([cell]) == ([cell] if quoted else [])


def test_ladder_without_a_reference(tmp_path, monkeypatch):
    """Where the reference matrix is not there, each stage has its row, and no row has a verdict."""
    monkeypatch.setattr(reference, "REFERENCE", tmp_path)
    reference.cells.cache_clear()
    try:
        rows = rungs("rush", lambda _: True)
    finally:
        reference.cells.cache_clear()

    assert rows
    assert {row["cell"]["verdict"] for row in rows} == {""}
