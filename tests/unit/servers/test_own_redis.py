"""Test that the folders of a killed exploration are removed, and no others."""

import os
import tempfile

from lab.servers.own_redis import PREFIX, sweep

NOBODY = 1 << 30  # no process has this number


def test_folders_of_the_dead(tmp_path, monkeypatch):
    """The folder of an ended process is removed; the folder of a living process stays, and so does one without a number."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lives, dead, other = (f"{PREFIX}{one}-x" for one in (os.getpid(), NOBODY, "other"))
    for folder in (tmp_path / lives, tmp_path / dead, tmp_path / other):
        folder.mkdir()

    sweep()

    assert {one.name for one in tmp_path.iterdir()} == {lives, other}
