"""The documents name what the lab executes."""

from __future__ import annotations

import pytest

from lab.paths import HOME


@pytest.mark.parametrize("name", ["README.md", "docs/running.md"])
def test_stage_file_is_code(name):
    """A reader learns that a stage file of somebody else is a program of somebody else."""
    assert "A stage file is code that runs" in (HOME / name).read_text(encoding="utf-8")
