"""A fixture for pytest that tests a lock as ``lab test`` does: ``lock_lab``.

    def test_my_lock(lock_lab):
        lock_lab.check("my_lock.py")

The lab is a process of its own: it starts its servers and ends them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

KEPT, NOTHING_SHOWN = 0, 3  # exit statuses of ``lab test``
END_S = 30.0  # for the lab to end its servers


class LockLab:
    """The lab, for one test."""

    def __init__(self, near: Path, root: Path, out: Path) -> None:
        """near: the folder of the test. root: where pytest runs. out: the folder for the page."""
        self.near, self.root, self.out = near, root, out

    def check(
        self,
        lock: Any,
        *,
        claims: Iterable[Any] = (),
        scenarios: Iterable[str] = (),
        budget_s: float = 10.0,
        allow_nothing_shown: bool = False,
    ) -> dict[str, Any]:
        """Test a lock. Return what ``test.json`` has; fail the test where a promise breaks, with a shortest schedule.

        lock: the path of a file with a STAGE, from the folder of the test or from where pytest runs; ``package.module:NAME``; or
        the class or function itself. claims: what the lock promises, where it has no STAGE. scenarios: only these. budget_s:
        seconds for every order of events. allow_nothing_shown: pass where nothing broke, and nothing was shown of some promise.
        """
        __tracebackhide__ = True
        words = ["test", self._named(lock), "--out", str(self.out), "--budget", str(budget_s)]
        names = [getattr(one, "name", one) for one in claims]
        words += ["--claims", " ".join(names)] if names else []
        words += [word for name in scenarios for word in ("--scenario", name)]
        status, text = self._lab(words)
        if status != KEPT and not (status == NOTHING_SHOWN and allow_nothing_shown):
            pytest.fail(text, pytrace=False)
        tested: dict[str, Any] = json.loads((self.out / "test.json").read_text(encoding="utf-8"))
        return tested

    def _named(self, lock: Any) -> str:
        """Return a lock as the command names it."""
        if not isinstance(lock, str | os.PathLike):
            return f"{lock.__module__}:{lock.__qualname__}"
        name = os.fspath(lock)
        near = self.near / name
        return str(near) if name.endswith(".py") and near.is_file() else name

    def _lab(self, words: list[str]) -> tuple[int, str]:
        """Run the lab, and end it whatever happens here. Return its status and what it printed."""
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "lab.cli", *words]
        with subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                out, _ = process.communicate()
            except BaseException:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
                process.kill()
                raise
        return process.returncode, out


@pytest.fixture
def lock_lab(request: pytest.FixtureRequest, tmp_path: Path) -> LockLab:
    """Return the lab: ``lock_lab.check(lock)`` tests a lock in every order of events and in runs."""
    return LockLab(request.path.parent, request.config.rootpath, tmp_path / "lock_lab")
