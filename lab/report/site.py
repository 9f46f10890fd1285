"""Write the site of runs, ``index.html`` and ``index.zh.html``: all runs in a table to filter, and the first pictures."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lab.language import Language
from lab.paths import REPORTS
from lab.report.chart import LOST
from lab.report.html import in_both, inline, page_of, path_in
from lab.report.run_data import FACTS, Result, load
from lab.report.run_words import amount
from lab.story import say
from lab.story.verdict import why

INDEX = "index.html"
REFERENCE = "reference"
PLAY = "play"  # the pages of lab play


class Row(NamedTuple):
    """A run in one line of the site, with its words in one language."""

    result: Result
    label: str
    # the reason of its verdict
    why: str
    # the name of its page; empty if it is not drawn
    page: str


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
        about = {"left_out": left_out, "play": PLAY if (reports / PLAY / INDEX).exists() else ""}
        path, _ = in_both("site.html", reports / INDEX, lambda language: about | _page_values(found[language], reports, language))
    finally:
        os.close(alone)
    return path


def _page_values(found: Sequence[Row], reports: Path, language: Language) -> dict[str, Any]:
    """Return the values of the page in a language."""
    return {
        "say": partial(say.text, "runs_page", language=language),
        "says": say.words(language)["runs_page"],
        "rows": found,
        "amount": amount,
        "others": _others(reports, language),
        "ladder": _ladder(reports, language),
        "hero": _of_reference(reports, "pictures/hero.svg", language),
        "core": _of_reference(reports, "matrix/core.svg", language),
    }


def _of_reference(reports: Path, name: str, language: Language) -> str:
    """Return a picture of the reference as text for the page; empty if it is missing."""
    path = path_in(reports / REFERENCE / name, language)
    return inline(path) if path.exists() else ""


def _ladder(reports: Path, language: Language) -> dict[str, str] | None:
    """Return the folder and the first chart of the newest ladder, or of the reference's if there is none."""
    folders = [*sorted(reports.glob("ladder-*"), reverse=True), reports / REFERENCE]
    charts = [path for folder in folders if (path := path_in(folder / LOST, language)).exists()]
    return {"folder": charts[0].parent.name, "chart": inline(charts[0])} if charts else None


def _others(reports: Path, language: Language) -> dict[str, str]:
    """Return the folders with other pages, each with its page: the newest of each kind first, the reference last."""
    places = ("ladder-*", "matrix-*", REFERENCE, f"{REFERENCE}/*")
    found = [path for one in places for path in sorted(reports.glob(f"{one}/{INDEX}"), reverse=one.endswith("-*"))]
    pages = {path.parent.relative_to(reports).as_posix(): path_in(path, language) for path in found}
    pictures = sorted(reports.glob(path_in(Path("experiment-*/*.svg"), language).as_posix()), reverse=True)
    drawn = {path.parent.name: path.name for path in pictures if language is not Language.ENGLISH or path.suffixes == [".svg"]}
    return drawn | {name: page.name if page.exists() else INDEX for name, page in pages.items()}


def rows(reports: Path) -> tuple[dict[Language, list[Row]], dict[str, str]]:
    """Return the runs of ``reports/runs`` in each language, newest first, and why other folders there are left out."""
    found: dict[Language, list[Row]] = {one: [] for one in Language}
    left_out: dict[str, str] = {}
    for folder in sorted((reports / "runs").glob("[!.]*"), reverse=True):  # hidden are unfinished and failed runs
        if folder.is_symlink() or not folder.is_dir():
            continue
        try:
            result = _read(folder)
            made = {one: Row(result, result.label(one), why(result.judgement, one), page_of(folder, one)) for one in Language}
        except Exception as error:  # noqa: BLE001 - a folder with unknown content is left out, and must not stop the site
            left_out[folder.name] = " ".join(str(error).split())[:200] or type(error).__name__
            continue
        for language, row in made.items():
            found[language].append(row)
    return found, left_out


def _read(folder: Path) -> Result:
    if any(not (folder / name).is_file() for name in FACTS):
        raise ValueError(f"{' or '.join(FACTS)} is not a file")
    result = load(folder)
    if folder.name != result.judgement.run:
        raise ValueError(f"verdict.json is of another run, {result.judgement.run}")
    return result
