"""The site of runs after real runs."""

from __future__ import annotations

from tests.command import lab
from tests.pages import rows_of


def test_site_holds_every_run(tmp_path):
    """Every run that has ended is in the site."""
    for draw in (True, False):
        words = ("run", "rush", "--stage", "incr", "--requests", "60", "--users", "10", *([] if draw else ["--no-draw"]))
        done = lab(*words, cwd=tmp_path)
        first = rows_of(tmp_path / "reports" / "index.html")[0]

        assert (first["run"], first["page"], first["final"]) == (done.folder.name, draw, 60)
