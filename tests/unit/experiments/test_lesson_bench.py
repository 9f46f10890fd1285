"""``lab bench lesson``: how often each run of the lesson ends the same way."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lab.errors import NothingShown
from lab.experiments.benchmarks import lesson as bench
from lab.experiments.benchmarks.lesson import RunEnd

USUAL, OTHER = RunEnd("ADMITTED", "no_lock", "read wrote"), RunEnd("KEPT", "", "in_turn")


@pytest.fixture
def first_runs(monkeypatch):
    """How the runs of the first step end, in turn, where they do not end as usual; None for a run without a verdict."""
    endings: list[RunEnd | None] = []
    left: dict[str, RunEnd] = {}

    def run(words, cwd):
        ending = endings.pop() if endings and words[:3] == ["rush", "--stage", "none"] else USUAL
        if ending is None:
            raise NothingShown("it was ended")
        name = str(len(left))
        left[name] = ending
        return SimpleNamespace(run=name)

    monkeypatch.setattr(bench, "child_run", run)
    monkeypatch.setattr(bench, "ending_of", lambda folder: left[folder.name])
    monkeypatch.setattr(bench, "JOBS", 1)
    return endings


def test_runs_that_end_otherwise(first_runs):
    """A run that ends otherwise, or without a verdict, is counted, and its ending is named."""
    first_runs += [OTHER, None]

    first, *others = bench.measure(4)

    assert len([first, *others]) == len(bench.runs())
    assert (first.value, first.samples, first.held) == (0.5, [0, 0, 1, 1], False)
    assert first.seen["verdict"] == "ADMITTED"
    assert "1 of them: KEPT · in_turn" in first.remark
    assert "1 of them: VOID · it was ended" in first.remark
    assert all(one.held for one in others)
