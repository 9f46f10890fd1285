"""Test the folder of a run: which process may take it, and the errors if it cannot be made or named."""

import os
from pathlib import Path

import pytest

from lab.errors import CannotWrite
from lab.evidence import run_folder
from lab.evidence.run_folder import RunFolder, take_abandoned


def killed(reports: Path, stage: str, *files: str) -> Path:
    """Make the folder that a killed lab leaves: unfinished, and without a lock. Return its path."""
    folder = RunFolder.create("rush", stage, reports)
    for name in files:
        (folder.path / name).write_text("{}\n", encoding="utf-8")
    os.close(folder._lock)
    return folder.path


def test_unfinished_run_of_a_killed_lab(tmp_path):
    """The unfinished run of a killed lab becomes a failed run, once; an empty one is removed, and a run in progress stays."""
    assert take_abandoned(tmp_path) == []  # before the first run
    left, empty = killed(tmp_path, "lua", "requests.jsonl"), killed(tmp_path, "ttl")
    running = RunFolder.create("rush", "uuid", tmp_path)

    (taken,) = take_abandoned(tmp_path)

    assert taken == left.with_suffix(".failed")
    assert (taken / "requests.jsonl").exists()
    assert not empty.exists()
    assert running.path.exists()
    assert take_abandoned(tmp_path) == []
    assert run_folder.clean(20, tmp_path) == [taken]


@pytest.mark.parametrize("place", ["reports", "reports/runs"])
def test_file_in_the_place_of_the_folder(tmp_path, place):
    """If a file has the name of the folder of runs, the error gives its reason."""
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.touch()

    with pytest.raises(CannotWrite, match=r"a folder for the run cannot be made: .*: (Not a directory|File exists)"):
        RunFolder.create("rush", "lua", tmp_path / "reports")


def test_disk_without_room(tmp_path, monkeypatch):
    """A run does not begin on a disk without room for its end, and leaves no folder."""
    monkeypatch.setattr("lab.paths.RESERVE", 1 << 60)

    with pytest.raises(CannotWrite, match="has no room for a run: the disk is nearly full"):
        RunFolder.create("rush", "lua", tmp_path)

    assert list((tmp_path / "runs").iterdir()) == []


def test_folder_in_the_place_of_latest(tmp_path):
    """If the link `latest` cannot be made, the folder of the run still gets its usual name."""
    (tmp_path / "runs" / "latest" / "mine").mkdir(parents=True)
    folder = RunFolder.create("rush", "lua", tmp_path)

    with pytest.raises(CannotWrite, match="`latest` cannot point to the run"):
        folder.publish()

    assert folder.path == tmp_path.resolve() / "runs" / folder.name
    assert folder.path.is_dir()
