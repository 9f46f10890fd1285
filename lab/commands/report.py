"""``lab report`` and ``lab compare``: draw finished runs again, and find the runs to compare."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import BadInput
from lab.evidence import run_folder
from lab.paths import REPORTS, shown
from lab.pipeline import publish_site
from lab.report import site
from lab.report.pages import report_many, report_run, runs_in


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


def report_again(names: tuple[str, ...], out: Path | None) -> None:
    """Draw one run, or a sweep, again, into its folder; without names the latest run. Then write the site of runs again.

    Several runs, or the folder of a comparison, are compared as ``lab compare`` does. Raises BadInput.
    """
    first = Path(names[0]) if names else REPORTS
    if len(names) > 1 or (names and runs_in(first)):
        written = compare(names, out)
    elif out is not None:
        raise BadInput("--out is for a comparison of several runs: a run or a sweep is drawn into its own folder")
    elif (first / "sweep.json").exists():
        from lab.experiments.sweep_report import write_again  # imports matplotlib, which takes a moment

        written = write_again(first)
    elif names or run_folder.finished():
        written = report_run(run_folder.find(names[0] if names else "latest"))
    else:
        written = []
    _print_paths([*written[:1], site.write()])


def compare_runs(names: tuple[str, ...], out: Path | None) -> None:
    """Compare several runs on one page, and print where it is. Raises BadInput."""
    _print_paths(compare(names, out)[:1])
    publish_site()


def _print_paths(pages: list[Path]) -> None:
    """Print where to look, a line for each page."""
    for path in pages:
        sys.stdout.write(f"{shown(path)}\n")
