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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

GOOD, NOTHING_SHOWN = 0, 3  # exit statuses of the lab


class LockLab:
    """The lab, for one test."""

    def __init__(self, near: Path, root: Path, out: Path) -> None:
        """near: the folder of the test. root: the folder in which pytest runs. out: the folder for the lab's results."""
        self.near, self.root, self.out = near, root, out

    def check(
        self,
        lock: Any,
        *,
        claims: Sequence[Any] = (),
        scenarios: Iterable[str] = (),
        budget_s: float = 10.0,
        allow_nothing_shown: bool = False,
    ) -> dict[str, Any]:
        """Test a lock. Return the content of ``test.json``; fail the test if a promise breaks, with a shortest schedule.

        lock: the path of a declaration, relative to the folder of the test or of pytest; or ``package.module:NAME``; or the
        class or function itself: its declaration is written into pytest's folder, with these claims. scenarios: run only these.
        budget_s: seconds for all orders. allow_nothing_shown: pass if nothing broke, even if a promise was not tested.
        """
        __tracebackhide__ = True
        words = ["test", self._name_of(lock), "--out", str(self.out), "--budget", str(budget_s)]
        words += [word for name in scenarios for word in ("--scenario", name)]
        words += ["--claims", " ".join(str(getattr(claim, "name", claim)) for claim in claims)] if claims else []
        status, text = self._lab(words)
        if status != GOOD and not (status == NOTHING_SHOWN and allow_nothing_shown):
            pytest.fail(text, pytrace=False)
        tested: dict[str, Any] = json.loads((self.out / "test.json").read_text(encoding="utf-8"))
        return tested

    def _lab(self, words: list[str]) -> tuple[int, str]:
        """Run the lab. Return its exit status and its output. An error here kills it, and its supervisor ends the servers."""
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        # lab/interrupts.py ends it with this process
        environment = os.environ | {"PYTHONPATH": paths, "LAB_PARENT": str(os.getpid())}
        done = subprocess.run(
            [sys.executable, "-P", "-m", "lab", *words],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def _name_of(self, lock: Any) -> str:
        """Return the name of a lock for the command."""
        if not isinstance(lock, str | os.PathLike):
            return f"{lock.__module__}:{lock.__qualname__}"
        name = os.fspath(lock)
        near = self.near / name
        return str(near) if name.endswith(".py") and near.is_file() else name


@pytest.fixture
def lock_lab(request: pytest.FixtureRequest, tmp_path: Path) -> LockLab:
    """Return the lab: ``lock_lab.check(lock)`` tests a lock in every order of events and in runs."""
    return LockLab(request.path.parent, request.config.rootpath, tmp_path / "lock_lab")
