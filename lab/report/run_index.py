"""Make a row for each run in each language, with the figures that the site needs.

The curves of a run are written into its folder as ``curves.js``: a script, because a page that is opened from a disk
(``file://``) may load a script, but may not fetch a JSON file.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import msgspec

from lab.evidence.run_folder import replace
from lab.language import Language
from lab.report.html import named
from lab.report.matrix import Cell, in_short
from lab.report.run_data import FACTS, PARAMETERS, Result, load, parameter
from lab.story.verdict import headline, why

CURVES = "curves.js"
PAGES = {one: named(Path("report.html"), one).name for one in Language}
Row = dict[str, Any]  # a run in one line of the site, with its words in one language
OF_JUDGEMENT = (
    *("run", "stage", "scenario", "claim", "verdict"),
    *("acknowledged", "final", "lost", "duplicated", "failed", "unknown"),
)


def rows(reports: Path) -> tuple[dict[Language, list[Row]], dict[str, str]]:
    """Return the runs of ``reports/runs`` in each language, newest first, and why other folders there are left out."""
    found: dict[Language, list[Row]] = {one: [] for one in Language}
    left_out: dict[str, str] = {}
    for folder in sorted((reports / "runs").glob("[!.]*"), reverse=True):  # hidden are unfinished and failed runs
        if folder.is_symlink() or not folder.is_dir():
            continue
        try:
            result = _read(folder)
            has_curves = _write_curves(result)
            made = {one: _row(result, has_curves, one) for one in Language}
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


def _row(result: Result, curves: bool, language: Language) -> Row:
    judgement = result.judgement
    cell = Cell(stage=judgement.stage, scenario=judgement.scenario, claim=judgement.claim, verdict=judgement.verdict)
    cell.lost, cell.duplicated, cell.failed = judgement.lost, judgement.duplicated, judgement.failed
    waits = judgement.wait_ms if result.series.wait_ms else {"p50": None, "p99": None}  # of the grants, if there were any
    return {name: getattr(judgement, name) for name in OF_JUDGEMENT} | {
        "began": result.record.started_utc[:23],
        "label": result.named(language),
        # the verdict with what was lost by another cause, and its reason
        "headline": headline(judgement, language),
        "why": why(judgement, language),
        # the outcome in short, as in a cell of the matrix
        "outcome": in_short(cell, language),
        "page": page_of(result.folder, language),
        # increments kept a second
        "per_s": judgement.kept_per_s,
        "p50_ms": waits["p50"],
        "p99_ms": waits["p99"],
        # that the lock's store carried out, per increment
        "commands": judgement.commands_per_increment,
        # the values of ``run_data.PARAMETERS``, in that order; None if the run has no such parameter
        "parameters": [parameter(result, name) for name in PARAMETERS],
        # whether it has ``curves.js``
        "curves": curves,
    }


def page_of(folder: Path, language: Language) -> str:
    """Return the name of a run's page: in a language, or else in another; empty without a page."""
    own_first = sorted(Language, key=lambda one: one != language)
    return next((PAGES[one] for one in own_first if (folder / PAGES[one]).is_file()), "")


def _write_curves(result: Result) -> bool:
    """Write ``curves.js`` into the run folder, unless it is there. Return False if the folder is read-only."""
    named_curves = {"run": result.judgement.run, **msgspec.structs.asdict(result.series)}
    path, content = result.folder / CURVES, b"lab.curves(" + msgspec.json.encode(named_curves) + b");\n"
    try:
        if path.is_symlink() or not path.is_file() or path.read_bytes() != content:
            replace(path, content)
    except OSError:
        return False
    return True
