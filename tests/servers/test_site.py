"""The site of runs after real runs."""

from __future__ import annotations

from tests.command import run
from tests.pages import rows_of


def test_site_holds_every_run(tmp_path):
    """Every run that has ended is in the site."""
    for draw in (True, False):
        done = run("rush", "incr", tmp_path, draw=draw, requests=60, users=10)
        first = rows_of(tmp_path / "reports" / "index.html")[0]

        assert (first["run"], first["page"], first["final"]) == (done.folder.name, draw, 60)
