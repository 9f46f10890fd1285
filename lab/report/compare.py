"""Find the runs to compare, and the folder of the comparison: ``lab compare``, and ``lab report`` of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import BadInput
from lab.evidence import run_folder
from lab.paths import REPORTS
from lab.report.pages import report_many, runs_in


def compare(names: Sequence[str], out: Path | None) -> list[Path]:
    """Write the comparison of runs into ``out``. Return the paths of its files, the page first.

    Without ``out``, the comparison gets a new folder. If the only name is the folder of a comparison, it is written there again.
    Raises BadInput for fewer than two runs, for the same run twice, and for a name that is not a run.
    """
    folders = _chosen(names)
    if out is None:
        home = Path(names[0])
        out = home if len(names) == 1 else REPORTS / f"comparison-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return report_many(folders, out)


def _chosen(names: Sequence[str]) -> list[Path]:
    """Return the folders of the runs: by name, by path, ``latest``, or all runs in the folder of a comparison."""
    if not names:
        raise BadInput("no run was given; give two or more: by name, by path, 'latest', or the folder of a comparison")
    name_of: dict[str, str] = {}
    folders = []
    for name in names:
        for folder in runs_in(Path(name)) or [run_folder.find(name)]:
            if folder.name in name_of:
                before = name_of[folder.name]
                both = f"{name!r} was given twice:" if before == name else f"{before!r} and {name!r} are"
                raise BadInput(f"{both} the same run, {folder.name}; a run cannot be compared with itself")
            name_of[folder.name] = name
            folders.append(folder)
    if len(folders) == 1:
        raise BadInput(f"{names[0]!r} is one run; a comparison needs two or more. 'lab report {names[0]}' draws a single run")
    return folders
