"""What tests without servers share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.builders import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a history without a line yet, in the folder of a run."""
    return Made(tmp_path / "made")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave charts empty in a test of what is around them: drawing takes nearly all the time of a comparison."""

    def save(chart: object, results: object, stem: Path, kinds: Sequence[str] = ("svg",)) -> list[Path]:
        paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
        for path in paths:
            path.write_text("<svg></svg>\n", encoding="utf-8")
        return paths

    monkeypatch.setattr("lab.report.chart.save", save)
