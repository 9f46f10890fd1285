"""The journal of a replica on a disk that takes no more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.journal import Journal, LineFile, Started


def test_line_that_is_not_written(tmp_path, monkeypatch):
    """After a line of which only a part was written, no line follows: it would be glued to that part."""
    file = LineFile(tmp_path / "lines")
    write = os.write
    monkeypatch.setattr(os, "write", lambda number, line: write(number, line[:3]))

    with pytest.raises(OSError, match="No space left on device"):
        file.append(b"whole line\n")
    monkeypatch.undo()
    with pytest.raises(OSError, match="No space left on device"):
        file.append(b"next\n")

    assert b"next" not in (tmp_path / "lines").read_bytes()


def test_journal_on_a_full_disk(tmp_path):
    """An event that cannot be written fails its request, and the replica reports why."""
    journal = Journal(tmp_path / "journal")
    assert journal.failure == ""
    journal._file = LineFile(Path("/dev/full"))

    with pytest.raises(OSError, match="No space left on device"):
        journal.record(Started(request="", started_ns=1, pid=1))

    assert journal.failure == "/dev/full: No space left on device"


def test_no_journal():
    """Without a journal nothing fails."""
    journal = Journal(None)
    journal.record(Started(request="", started_ns=1, pid=1))

    assert journal.failure == ""
