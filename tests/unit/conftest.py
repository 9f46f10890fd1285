"""What tests without servers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a history without a line yet, in the folder of a run."""
    return Made(tmp_path / "made")
