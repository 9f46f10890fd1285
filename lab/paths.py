"""Name the folders of the project that several parts of the lab use, and check whether they can be written."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import BadInput

HOME = Path(__file__).parents[1]  # the project's own folder; if the lab is installed, the folder of all packages
# Only pip leaves a folder *.dist-info next to the packages. A missing pyproject.toml is no sign: the image has none either
INSTALLED = any(HOME.glob("lock_lab-*.dist-info"))
DOCS = HOME / "docs"
EXPECTED = DOCS / "expected.toml"  # the expected verdict of each cell of the matrix
LOCUSTFILE = HOME / "locustfiles" / "rush.py"  # the load of every scenario
REFERENCE = HOME / "reports" / "reference"  # the runs, matrix and benchmarks that the documents quote
SCENARIOS = HOME / "scenarios"
WORKERS = HOME / "workers"  # programs that hold locks in other languages, and examples of such locks

# the folder for runs, in the current folder: if the lab is installed, that is a folder of the user's own project
REPORTS = Path("lab-runs" if INSTALLED else "reports")
RESERVE = 4 << 20  # bytes of free disk at which a run ends: run.json, verdict.json and the losses need them
COMMAND = "lab" if INSTALLED else ".venv/bin/lab"  # for messages: `make` puts nothing on PATH


def need_clone(user: str = "this command") -> None:
    """Raise BadInput if the lab is an installed package. user: the command or the option that needs the project's other files."""
    if INSTALLED:
        raise BadInput(f"{user} needs a clone of the project: the lab was installed without its documents and its containers")


def shown(path: Path) -> Path:
    """Return a path for messages: relative to the current folder if it is below it."""
    current = Path.cwd()
    return path.relative_to(current) if path.is_relative_to(current) else path


def new_folder(name: str, option: str) -> Path:
    """Return the path of a folder that a command will write to. Raises BadInput if it cannot be made or written.

    option: the option of the command line that names the folder.
    """
    path = Path(name)
    existing = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
    if not existing.is_dir():
        raise BadInput(f"{option}: {existing} is a file, not a folder")
    try:
        Path(tempfile.mkdtemp(prefix=".lab-", dir=existing)).rmdir()  # only a try shows it: in /proc, root may write and cannot
    except OSError as error:
        raise BadInput(f"{option}: the folder {existing} cannot be written to: {error.strerror}") from None
    return path


def new_place(stem: str) -> Path:
    """Return the folder of a result if the user names none: ``reports/STEM-TIME-PID``. Two commands at once get two folders."""
    return REPORTS / f"{stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"


def shortage(folder: Path) -> str:
    """Return a sentence if the disk of a folder has too little room for evidence; empty if it has enough."""
    disk = os.statvfs(folder)
    free = (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize
    if free >= RESERVE or not disk.f_blocks:  # some file systems do not report their size
        return ""
    return f"the disk is nearly full: {free / 2**20:.1f} MiB are free, and the lab keeps {RESERVE >> 20} MiB for the end of a run"
