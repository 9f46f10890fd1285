"""The image of the lab has no reference: pages that show it go without."""

from __future__ import annotations

from lab.report import reference
from lab.ui.ladder_panel import rungs


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
