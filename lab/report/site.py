"""Write the site of runs, ``index.html`` and ``index.zh.html``: all runs in a table to filter, and the first pictures."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lab.language import Language
from lab.paths import REPORTS
from lab.report.chart import LOST
from lab.report.html import in_both, inline, named
from lab.report.run_index import Row, rows
from lab.story import say

INDEX = "index.html"
REFERENCE = "reference"
KINDS = ("ladder", "matrix")  # other pages in reports, each in its own folder
PLAY = "play"  # the pages of lab play


def write(reports: Path = REPORTS) -> Path:
    """Write ``index.html`` of all runs in ``reports``. Return its path.

    A lock on the folder lets one process write at a time, so that the last page has all runs.
    Raises OSError if the page cannot be written.
    """
    reports.mkdir(parents=True, exist_ok=True)
    alone = os.open(reports, os.O_RDONLY)
    try:
        fcntl.flock(alone, fcntl.LOCK_EX)
        found, left_out = rows(reports)
        about = {
            "left_out": left_out,
            "play": PLAY if (reports / PLAY / INDEX).exists() else "",
        }
        path, _ = in_both("site.html", reports / INDEX, lambda language: about | _said(found[language], reports, language))
    finally:
        os.close(alone)
    return path


def _said(found: Sequence[Row], reports: Path, language: Language) -> dict[str, Any]:
    """Return what the page shows in a language."""
    return {
        "say": partial(say.text, "runs_page", language=language),
        "says": say.words(language)["runs_page"],
        "rows": found,
        "others": _others(reports, language),
        "ladder": _ladder(reports, language),
        "hero": _of_reference(reports, "pictures/hero.svg", language),
        "core": _of_reference(reports, "matrix/core.svg", language),
    }


def _of_reference(reports: Path, name: str, language: Language) -> str:
    """Return a picture of the reference as text for the page; empty if it is missing."""
    path = named(reports / REFERENCE / name, language)
    return inline(path) if path.exists() else ""


def _ladder(reports: Path, language: Language) -> dict[str, str] | None:
    """Return the folder and the first chart of the newest ladder, or of the reference's if there is none."""
    folders = [*sorted(reports.glob("ladder-*"), reverse=True), reports / REFERENCE]
    charts = [path for folder in folders if (path := named(folder / LOST, language)).exists()]
    return {"folder": charts[0].parent.name, "chart": inline(charts[0])} if charts else None


def _others(reports: Path, language: Language) -> dict[str, str]:
    """Return the folders of other pages, the newest of a kind first, each with its page; then those of the reference."""
    others = {kind: sorted((path.parent.name for path in reports.glob(f"{kind}-*/{INDEX}")), reverse=True) for kind in KINDS}
    home = reports / REFERENCE
    others[REFERENCE] = sorted(
        path.parent.relative_to(reports).as_posix() for path in (*home.glob(INDEX), *home.glob(f"*/{INDEX}"))
    )
    pages = {name: named(reports / name / INDEX, language) for names in others.values() for name in names}
    pictures = sorted(reports.glob(named(Path("experiment-*/*.svg"), language).as_posix()), reverse=True)
    drawn = {path.parent.name: path.name for path in pictures if language is not Language.ENGLISH or path.suffixes == [".svg"]}
    return drawn | {name: page.name if page.exists() else INDEX for name, page in pages.items()}
