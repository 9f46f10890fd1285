"""``lab report`` and ``lab compare``: draw finished runs again."""

from __future__ import annotations

import sys
from pathlib import Path

from lab.errors import BadInput
from lab.evidence import run_folder
from lab.paths import REPORTS, shown
from lab.pipeline import publish_site
from lab.report import site
from lab.report.compare import compare
from lab.report.pages import report_run, runs_in


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
