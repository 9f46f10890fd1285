"""A lock and a scenario of the user's own, on the real servers."""

from __future__ import annotations

import json
import shutil

from lab.paths import HOME
from tests.command import warm

OWN = """
title = "Few users, and a holder that is stopped"
tests = "exclusive"
requests = 60
users = 10
ttl_ms = 3000
work_ms = 2

[danger]
handovers = 5
faults = 1

[[faults]]
kind = "slow"
for_ms = 50
skip = 2
"""


def test_run_is_judged_without_its_files(tmp_path):
    """A run of an own scenario and an own lock is judged and drawn again elsewhere, without the two files."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    (here / "own.toml").write_text(OWN, encoding="utf-8")
    shutil.copy(HOME / "app" / "locks" / "lua.py", here / "my_lock.py")

    done = warm("run", "./own.toml", "--stage", "./my_lock.py", "--json", "--no-draw", cwd=here)
    record = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))
    verdict = done.verdict
    shutil.copytree(done.folder, elsewhere / "copy")
    shutil.rmtree(here)
    again = warm("check", "copy", "--json", cwd=elsewhere)
    drawn = warm("report", "copy", cwd=elsewhere)

    assert (done.status, verdict["verdict"], verdict["scenario"], verdict["stage"]) == (0, "KEPT", "own", "my_lock")
    assert record["command"] == "lab run ./own.toml --stage ./my_lock.py --json --no-draw"
    assert (again.status, json.loads(again.out)) == (0, verdict)
    assert drawn.status == 0
    assert (elsewhere / "copy" / "report.html").exists()
