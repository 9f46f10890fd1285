"""Which runs are laid over each other, and where the comparison goes: ``lab compare``, and ``lab report`` of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import BadInput
from lab.evidence import run_folder
from lab.paths import REPORTS
from lab.report.pages import report_many, runs_in


def compare(names: Sequence[str], out: Path | None) -> list[Path]:
    """Compare runs into ``out``. A single comparison's folder is made again where it is, unless told otherwise.

    Returns what was written, the page first. Raises BadInput for fewer than two, for the same run twice, for what is none.
    """
    folders = _chosen(names)
    if out is None:
        home = Path(names[0])
        out = home if len(names) == 1 else REPORTS / f"comparison-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return report_many(folders, out)


def _chosen(names: Sequence[str]) -> list[Path]:
    """The runs by name, path or ``latest``, and all those kept in a comparison's folder."""
    if not names:
        raise BadInput("no run was named; give two or more: by name, by path, 'latest', or the folder of a comparison")
    said: dict[str, str] = {}
    folders = []
    for name in names:
        for folder in runs_in(Path(name)) or [run_folder.find(name)]:
            if folder.name in said:
                how = f"{said[folder.name]!r} and {name!r} are" if said[folder.name] != name else f"{name!r} is named twice,"
                raise BadInput(f"{how} the same run, {folder.name}; a run cannot be compared with itself")
            said[folder.name] = name
            folders.append(folder)
    if len(folders) == 1:
        raise BadInput(f"{names[0]!r} is one run, and a comparison needs two or more; 'lab report {names[0]}' draws one alone")
    return folders
