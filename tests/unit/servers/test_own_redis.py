"""What an exploration that was killed has left behind is removed, and nothing else."""

import os
import tempfile

from lab.servers.own_redis import PREFIX, sweep

NOBODY = 1 << 30  # no process has such a number


def test_folders_of_the_dead(tmp_path, monkeypatch):
    """A folder goes whose process is gone; that of a living one stays, and one without a number."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lives, dead, other = (f"{PREFIX}{one}-x" for one in (os.getpid(), NOBODY, "other"))
    for folder in (tmp_path / lives, tmp_path / dead, tmp_path / other):
        folder.mkdir()

    sweep()

    assert {one.name for one in tmp_path.iterdir()} == {lives, other}
