"""``lab report``: draw finished runs again."""

from __future__ import annotations

import sys
from pathlib import Path

from lab.evidence import run_folder
from lab.language import Language
from lab.paths import shown
from lab.report import comparison, site
from lab.report.run_data import KEPT
from lab.report.run_page import report_run


def report_again(name: str, language: str | None = None) -> None:
    """Draw a run, an experiment or a ladder again, into its folder; if there is no run, nothing. Then write the site.

    language: of a run's page; None for the language of the environment. Other pages are drawn in each language.
    """
    folder, written = Path(name), list[Path]()
    if (folder / KEPT).exists():
        written = comparison.report_again(folder)
    elif any(folder.glob("*.csv")) and not (folder / run_folder.RUN).exists():  # a run has Locust's tables
        from lab.experiments.drawing import write_again  # imports matplotlib, which takes a moment

        written = write_again(folder)
    elif name != "latest" or run_folder.finished():
        written = report_run(run_folder.find(name), languages=[Language(language)] if language else None)
    for path in (*written[:1], site.write()):
        sys.stdout.write(f"{shown(path)}\n")
