"""The reference matrix as the documents quote it: only cells that answer a question of this lab."""

from __future__ import annotations

from lab.report.matrix import Cell
from lab.report.reference import current
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

    assert current([cell]) == ([cell] if quoted else [])
