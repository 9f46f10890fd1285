"""Define ``lock_lab``, a fixture for pytest that tests a lock as ``lab test`` does.

    def test_my_lock(lock_lab):
        lock_lab.check("my_lock.py")

The lab is a process of its own: it starts its servers and ends them, and replaces parts of Python's library, such as
``time.sleep``, only there. This module imports none of the lab: a project may have packages ``app`` and ``lab`` of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOOD, NOTHING_SHOWN = 0, 3  # exit statuses of the lab


class LockLab:
    """The lab, for one test."""

    def __init__(self, root: Path, out: Path) -> None:
        """root: the folder in which pytest runs. out: the folder for the lab's results."""
        self.root, self.out = root, out

    def check(self, lock: Any, *options: str, allow_nothing_shown: bool = False) -> dict[str, Any]:
        """Test a lock. Return the content of ``test.json``; fail the test if a promise breaks, with a shortest schedule.

        lock: the path of a declaration, relative to the folder in which pytest runs; or ``package.module:NAME``; or the class or
        function itself: its declaration is written there. options: words for ``lab test``, such as ``"--budget", "60"``.
        allow_nothing_shown: pass if nothing broke, even if a promise was not tested.
        """
        __tracebackhide__ = True
        name = os.fspath(lock) if isinstance(lock, str | os.PathLike) else f"{lock.__module__}:{lock.__qualname__}"
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        done = subprocess.run(  # an error kills the lab, and its supervisor then ends the servers
            [sys.executable, "-P", "-m", "lab", "test", name, "--out", str(self.out), *options],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": paths, "LAB_PARENT": str(os.getpid())},  # lab/interrupts.py ends it with this process
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != GOOD and not (done.returncode == NOTHING_SHOWN and allow_nothing_shown):
            pytest.fail(done.stdout, pytrace=False)
        tested: dict[str, Any] = json.loads((self.out / "test.json").read_text(encoding="utf-8"))
        return tested


@pytest.fixture
def lock_lab(request: pytest.FixtureRequest, tmp_path: Path) -> LockLab:
    """Return the lab: ``lock_lab.check(lock)`` tests a lock in every order of events and in runs."""
    return LockLab(request.config.rootpath, tmp_path / "lock_lab")
