"""Read the runs of ``reports/runs``: a row of the site for each."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

from lab.judge.judgement import Judgement
from lab.language import Language
from lab.report.html import named
from lab.report.run_data import FACTS, Result, load
from lab.report.run_words import amount
from lab.story.verdict import headline, why

PAGES = {one: named(Path("report.html"), one).name for one in Language}


class Row(NamedTuple):
    """A run in one line of the site, with its words in one language."""

    judgement: Judgement
    # when it began: the day and the time, in UTC
    began: str
    label: str
    # the verdict with what was lost by another cause, and its reason
    headline: str
    why: str
    # the name of its page; empty if it is not drawn
    page: str
    # the wait of the slowest of a hundred grants, in ms
    p99_ms: str


def rows(reports: Path) -> tuple[dict[Language, list[Row]], dict[str, str]]:
    """Return the runs of ``reports/runs`` in each language, newest first, and why other folders there are left out."""
    found: dict[Language, list[Row]] = {one: [] for one in Language}
    left_out: dict[str, str] = {}
    for folder in sorted((reports / "runs").glob("[!.]*"), reverse=True):  # hidden are unfinished and failed runs
        if folder.is_symlink() or not folder.is_dir():
            continue
        try:
            result = _read(folder)
            made = {one: _row(result, one) for one in Language}
        except Exception as error:  # noqa: BLE001 - a folder with unknown content is left out, and must not stop the site
            left_out[folder.name] = " ".join(str(error).split())[:200] or type(error).__name__
            continue
        for language, row in made.items():
            found[language].append(row)
    return found, left_out


def _read(folder: Path) -> Result:
    for name in FACTS:
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise ValueError(f"{name} is not a regular file")
    result = load(folder)
    if folder.name != result.judgement.run:
        raise ValueError(f"verdict.json is of another run, {result.judgement.run}")
    return result


def _row(result: Result, language: Language) -> Row:
    judgement = result.judgement
    return Row(
        judgement,
        result.record.started_utc[:19].replace("T", " "),
        result.named(language),
        headline(judgement, language),
        why(judgement, language),
        page_of(result.folder, language),
        amount(judgement.wait_ms["p99"]),
    )


def page_of(folder: Path, language: Language) -> str:
    """Return the name of a run's page: in a language, or else in another; empty without a page."""
    own_first = sorted(Language, key=lambda one: one != language)
    return next((PAGES[one] for one in own_first if (folder / PAGES[one]).is_file()), "")
