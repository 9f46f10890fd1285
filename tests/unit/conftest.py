"""Share fixtures between the tests without servers."""

from pathlib import Path

import pytest

from app.journal import GaveUp, Started
from tests.builders import MS, Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a history without a line yet, in the folder of a run."""
    return Made(tmp_path / "made")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave charts empty in a test of other things: drawing takes nearly all the time of a comparison."""

    def write(draw: object, path: Path) -> Path:
        path.write_text("<svg></svg>\n", encoding="utf-8")
        return path

    monkeypatch.setattr("lab.report.chart.write", write)


@pytest.fixture
def stuck(made: Made) -> Made:
    """Return a history: r0 dies with a lock that has no time to live; r1 gives up early, and r2 asks and gives up late."""
    made.key_event("set", 10)
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown")
    made.line("journal/replica-1.jsonl", Started(request="", started_ns=300 * MS, pid=2))
    made.fault("kill", "r0", 20, 21)
    for request, asked, gave_up in (("r1", 5, 2000), ("r2", 2100, 4000)):
        times = {"asked_ns": asked * MS, "gave_up_ns": gave_up * MS}
        made.line("journal/replica-1.jsonl", GaveUp(request=request, why="not free", commands=9, **times))
        made.answer(request, "failed")
    return made
