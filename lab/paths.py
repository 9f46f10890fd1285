"""The folders of the project that several parts of the lab read or write, and whether they can be written."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import BadInput

HOME = Path(__file__).parents[1]  # the project's own folder; if the lab is installed, the folder of all packages
# Only pip leaves such a folder next to the packages. A missing pyproject.toml would not show it: the image has none either
INSTALLED = any(HOME.glob("lock_lab-*.dist-info"))
DOCS = HOME / "docs"
EXPECTED = DOCS / "expected.toml"  # the verdict that was written down for each cell of the matrix
LOCUSTFILE = HOME / "locustfiles" / "rush.py"  # the load of every scenario
REFERENCE = HOME / "reports" / "reference"  # the runs, matrix and benchmarks that the documents quote
SCENARIOS = HOME / "scenarios"
WORKERS = HOME / "workers"  # programs that hold locks in other languages, and examples of such locks

# where a command writes its runs: below the folder that it is called in, which is somebody else's if the lab is installed
REPORTS = Path("lab-runs" if INSTALLED else "reports")
RESERVE = 4 << 20  # bytes: enough for run.json, verdict.json and the losses of a partial run, which ends while so much is free
COMMAND = "lab" if INSTALLED else ".venv/bin/lab"  # as messages name it: `make` puts nothing on PATH


def need_clone(what: str = "this command") -> None:
    """Raise BadInput if the lab is installed. what: the command or the option that reads or writes more than the packages."""
    if INSTALLED:
        raise BadInput(f"{what} needs a clone of the project: the lab was installed without its documents and its containers")


def shown(path: Path) -> Path:
    """Return a path as messages print it: from the current folder if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def new_folder(name: str, asked_by: str) -> Path:
    """Return the path of a folder that a command will write to. Raises BadInput if there cannot be such a folder.

    asked_by: the option that names the folder.
    """
    path = Path(name)
    there = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        raise BadInput(f"{asked_by}: {there} is a file, not a folder")
    try:
        Path(tempfile.mkdtemp(prefix=".lab-", dir=there)).rmdir()  # asked by doing it: in /proc, root may write and cannot
    except OSError as error:
        raise BadInput(f"{asked_by}: the folder {there} cannot be written to: {error.strerror}") from None
    return path


def new_place(stem: str) -> Path:
    """Return where a result goes for which nobody named a place: ``reports/STEM-TIME``. Two at once have two places."""
    return REPORTS / f"{stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"


def shortage(folder: Path) -> str:
    """Return why the disk of a folder has too little room for evidence; empty if it has enough."""
    disk = os.statvfs(folder)
    free = (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize
    if free >= RESERVE or not disk.f_blocks:  # some file systems do not report their size
        return ""
    return f"the disk is nearly full: {free / 2**20:.1f} MiB are free, and the lab keeps {RESERVE >> 20} MiB for the end of a run"
