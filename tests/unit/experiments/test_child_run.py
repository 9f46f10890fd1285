"""A run in a process of its own."""

from __future__ import annotations

import pytest

from lab.experiments import child_run


def test_a_run_that_takes_too_long(monkeypatch, tmp_path):
    """A run that is not over in time has no verdict: the other cells of a matrix still run."""
    monkeypatch.setattr(child_run, "SLOWEST_S", 0.01)

    with pytest.raises(child_run.NoVerdict, match="it was not over by then"):
        child_run.child_run(["rush", "--stage", "none"], tmp_path)
