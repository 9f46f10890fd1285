"""The pages of all levels of the book, written once for all tests that play them: it takes some 40 seconds of a processor."""

import fcntl
from pathlib import Path

import pytest

from tests.command import lab


@pytest.fixture(scope="session")
def levels(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of the pages; the first worker that needs it writes them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "levels"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():  # the last file that is written
            # by a command: a supervisor in this process would end the browser with its servers
            done = lab("play", "--out", str(folder), cwd=folder.parent, timeout_s=600)
            assert done.status == 0, done.err
    return folder
