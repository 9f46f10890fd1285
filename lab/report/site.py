"""Write the site of runs, ``index.html`` and ``index.zh.html``: all runs, the matrix and the ladder, to filter and compare.

The site has static files only: a page with a row of figures for each run, and a file with the curves of each run. The page
loads the curves of a run when the reader compares it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from app import locks
from lab.judge.judgement import Judgement
from lab.language import Language, quoted
from lab.paths import REPORTS
from lab.report import run_data
from lab.report.chart import FEW, LINES, PAPERS
from lab.report.html import in_both, inline, named
from lab.report.matrix import Cell, in_short, load, lost_otherwise
from lab.report.run_data import labels
from lab.report.run_index import FIELDS, Row, rows
from lab.story import say

INDEX = "index.html"
REFERENCE = "reference"
KINDS = ("ladder", "matrix")  # other pages in reports, each in its own folder
HEROES = {Language.ENGLISH: "hero", Language.CHINESE: "hero-zh"}  # what the first picture of the reference is called
CORES = {Language.ENGLISH: "core", Language.CHINESE: "core-zh"}  # and the picture of the core of its matrix
PLAY = "play"  # the pages of lab play
NEWEST = 20  # runs listed for a browser that runs no scripts


class Square(msgspec.Struct):
    """A cell of the matrix on the site."""

    # the text of the cell
    outcome: str
    verdict: str = ""
    # the reason of the verdict
    why: str = ""
    # the name of the run's folder
    run: str = ""
    # whether the site has the run; if not, the outcome is that of the reference, or the scenario does not fit the stage
    has_run: bool = False
    # the file of its page; empty without a page
    page: str = ""
    # whether the tested promise held while increments were lost by another cause
    lost_otherwise: bool = False


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
            "ladder": _ladder(reports),
            "play": PLAY if (reports / PLAY / INDEX).exists() else "",
        }
        path, _ = in_both("site.html", reports / INDEX, lambda language: about | _said(found[language], reports, language))
    finally:
        os.close(alone)
    return path


def _said(found: Sequence[Row], reports: Path, language: Language) -> dict[str, Any]:
    """Return what the page shows in a language."""
    columns, lines = _matrix(found, reports, language)
    data = {
        "fields": FIELDS,
        "rows": found,
        "parameters": [[quoted("label", part, language) for part in label] for label in labels().values()],
        "lines": LINES,
        "few": FEW,
        "words": say.words(language)["curves"],
        "says": say.words(language)["runs_page"],
        **{name: say.words(language)["mark"][name] for name in ("comma", "names_comma")},
    }
    return {
        "say": partial(say.text, "runs_page", language=language),
        "newest": found[:NEWEST],
        "columns": columns,
        "lines": lines,
        "others": _others(reports, language),
        "heroes": _heroes(reports / REFERENCE / "pictures", language),
        "data": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
    }


def _heroes(folder: Path, language: Language) -> list[str]:
    """Return the first picture of the reference as text for the page, on light and on dark paper; none where it is missing."""
    found = [folder / f"{HEROES[language]}{name}.svg" for name in PAPERS]
    return inline(found) if all(path.exists() for path in found) else []


def _matrix(found: Sequence[Row], reports: Path, language: Language) -> tuple[list[str], dict[str, list[Square]]]:
    """Return the stages, and the cells of each scenario: the newest run, or without one the cell of the reference matrix."""
    seen = {(cell.scenario, cell.stage): _seen(cell, language) for cell in _reference(reports)}
    names = [scenario for scenario, _ in seen]
    for row in reversed(found):
        seen[row.scenario, row.stage] = _of_run(row)
    shelf = locks.names()
    columns = sorted(
        {stage for _, stage in seen}, key=lambda name: (name not in shelf, shelf.index(name) if name in shelf else 0, name)
    )
    order = [*dict.fromkeys(names), *sorted({scenario for scenario, _ in seen} - set(names))]
    return columns, {name: [seen.get((name, column), Square("")) for column in columns] for name in order}


def _of_run(row: Row) -> Square:
    otherwise = row.headline != row.verdict
    return Square(row.outcome, row.verdict, row.why, row.run, has_run=True, page=row.page, lost_otherwise=otherwise)


def _seen(cell: Cell, language: Language) -> Square:
    reason = cell.why(language) if cell.grounds or language is say.ENGLISH else ""
    return Square(in_short(cell, language), cell.verdict, reason, lost_otherwise=lost_otherwise(cell))


def _reference(reports: Path) -> list[Cell]:
    try:
        return load(reports / REFERENCE / "matrix")
    except (OSError, msgspec.MsgspecError):
        return []


def _ladder(reports: Path) -> dict[str, Any] | None:
    """Return the newest ladder, or the reference's if there is none: its folder, and its runs in the order of their begin."""
    for folder in sorted(reports.glob("ladder-*"), reverse=True):
        runs = sorted(path.parent for path in (folder / "runs").glob("*/verdict.json"))
        if rungs := [rung for run in runs if (rung := _rung(run)) is not None]:
            return _as_ladder(folder.name, rungs)
    kept = run_data.kept(reports / REFERENCE / run_data.KEPT).values()
    return _as_ladder(REFERENCE, [one.judgement for one in kept]) if kept else None


def _as_ladder(folder: str, rungs: Sequence[Judgement]) -> dict[str, Any]:
    return {"folder": folder, "rungs": rungs, "fastest": max(*(rung.kept_per_s for rung in rungs), 1)}


def _rung(folder: Path) -> Judgement | None:
    """Return the judgement on a run of a ladder; None if it cannot be read."""
    try:
        return Judgement.load(folder)
    except (OSError, msgspec.MsgspecError):
        return None


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
