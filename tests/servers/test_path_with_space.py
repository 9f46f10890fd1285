"""Folders whose names hold a space, quotes and more: the project's own, and the one in which a command writes its runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.paths import HOME
from tests.command import Done
from tests.sampled import sampled

NAME = 'it\'s a "lab": $HOME `id` \\ 100% {b} #;\nnew line'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the project in a folder with what means something to a shell, or in a server's configuration."""
    copy = tmp_path_factory.mktemp("with space") / NAME
    for name in ("app", "lab", "locustfiles", "scenarios"):
        shutil.copytree(HOME / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    yield copy
    shutil.rmtree(copy)


FAILOVER = ("failover", "lua")  # it needs a Sentinel


@pytest.mark.parametrize(
    ("scenario", "stage"), sampled([FAILOVER, ("rush", "mysql_for_update"), ("rush", "zookeeper")], [FAILOVER])
)
def test_run(project, scenario, stage):
    """All servers start below such a folder, and the run is judged, and drawn."""
    words = [sys.executable, "-m", "lab", "run", scenario, "--stage", stage, "--requests", "120"]
    about = {"cwd": project, "env": {**os.environ, "PYTHONPATH": ""}}
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **about)
    done = Done(ended.returncode, ended.stdout, ended.stderr, (project / "reports" / "runs" / "latest").resolve())

    assert (done.status, done.err) in ((0, ""), (3, "")), done.err  # 3: so few requests may not reach the danger
    assert done.folder.is_relative_to(project)
    assert done.verdict["stage"] == stage
    assert done.verdict["acknowledged"] > 0
    assert done.verdict["final"] is not None
    assert (done.folder / "report.html").exists()
