"""``lab report`` and ``lab compare``: draw finished runs again."""

from __future__ import annotations

import sys
from pathlib import Path

from lab.errors import BadInput
from lab.evidence import run_folder
from lab.paths import REPORTS
from lab.pipeline import publish_site
from lab.report import site
from lab.report.compare import compare
from lab.report.pages import report_run, runs_in


def report_again(names: tuple[str, ...], out: Path | None) -> None:
    """``lab report``: one run, or a sweep, into its folder; several runs, or those in a comparison's folder, as compare does.
    Without names, the latest run, if there is one. Then the site of runs is written again.
    """
    first = Path(names[0]) if names else REPORTS
    if len(names) > 1 or (names and runs_in(first)):
        written = compare(names, out)
    elif out is not None:
        raise BadInput("--out is for a comparison of several runs; a run or a sweep is drawn into its own folder")
    elif (first / "sweep.json").exists():
        from lab.experiments.sweep_report import write_again  # with matplotlib, which not every command waits for

        written = write_again(first)
    elif names or run_folder.finished():
        written = report_run(run_folder.find(names[0] if names else "latest"))
    else:
        written = []
    tell([*written, site.write()])


def compare_runs(names: tuple[str, ...], out: Path | None) -> None:
    """``lab compare``: several runs over each other, and where the page is."""
    tell(compare(names, out))
    publish_site()


def tell(written: list[Path]) -> None:
    """Print the paths that were written, a line each."""
    for path in written:
        sys.stdout.write(f"{path}\n")
