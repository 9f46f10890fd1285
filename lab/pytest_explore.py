"""A fixture for pytest that explores a lock: ``explore``.

    def test_my_lock(explore):
        explore("my_lock.py")

The exploration is a process of its own: nothing in the process of the tests is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.pytest_lock_lab import Explored, LockLab


@pytest.fixture
def explore(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Explored]:
    """Return a function that decides every order of events of a lock, and fails the test where a promise breaks."""
    return LockLab(request.path.parent, request.config.rootpath, tmp_path / "explored").explore
