"""The views of the reference matrix: its core for the README, its page, and the verdicts in the documents.

Picture and page show every scenario and stage of the lab of today: what the matrix has not measured yet is drawn as not tried. A
chapter has the verdicts that changed against the stage before, docs/conditions.md a sign for each stage and condition,
docs/which-lock.md the numbers of each stage. The page of the matrix has all verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from app.lock import Stage
from app.locks import stages
from lab.errors import choose_from
from lab.experiments.matrix import decided
from lab.explore.play.levels import LEVELS, LevelKind
from lab.language import Language
from lab.paths import HOME, REFERENCE
from lab.report import matrix, matrix_page, matrix_picture, reference
from lab.report.chart import PAPERS
from lab.report.matrix import Cell, Origin
from lab.report.matrix_layout import completed
from lab.story.say import ENGLISH, text, words
from lab.text import table

FOLDER = REFERENCE / "matrix"
LEVEL_PAGES = HOME / "reports" / "play"  # which `lab play` writes
WORDS = "../README.md#how-to-read-a-chapter"  # from a chapter


@cache
def cells() -> list[Cell]:
    """Return a cell for each scenario and stage of the lab."""
    return completed(reference.cells())


def origin() -> Origin:
    """Return where the cells that were run are from."""
    return matrix.read(FOLDER).origin


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures: the path of each, and the function that draws it into a folder."""
    return {
        FOLDER / f"{stem}{name}.svg": partial(_core, name=name, language=language)
        for language, stem in matrix_picture.CORES.items()
        for name in PAPERS
    }


def pages_into(folder: Path) -> list[Path]:
    """Write the page of the matrix in each language into a folder, and return them."""
    return matrix_page.write_page(cells(), folder, origin(), decided=decided(cells()), home=FOLDER, levels=_levels())


def _levels() -> dict[tuple[str, str], str]:
    """Return the level of each claim of a stage that a reader can break; the easiest, where there are several."""
    breaks = [one for one in LEVELS if one.kind is LevelKind.BREAK and (LEVEL_PAGES / f"{one.name}.html").exists()]
    return {(one.stage, claim.name): f"../../play/{one.name}.html" for one in reversed(breaks) for claim in one.claims}


def _core(folder: Path, name: str, language: Language) -> Path:
    return matrix_picture.draw_core(cells(), folder, origin(), name, language)


def _proven(name: str) -> dict[str, Cell]:
    """Return the cells of a stage from which something follows: a run that is VOID proves nothing."""
    return {cell.scenario: cell for cell in reference.tried(name) if cell.verdict != "VOID"}


def _before(stage: Stage) -> tuple[str, Mapping[str, Cell]]:
    """Return the nearest stage below that was tried, with its cells; an empty name where none was."""
    while stage.follows is not None:
        stage = stages()[stage.follows]
        if found := _proven(stage.name):
            return stage.name, found
    return "", {}


def _outcome(cell: Cell) -> tuple[str, bool]:
    """Return what makes two cells the same outcome: the verdict, and whether increments were lost otherwise, but no figure."""
    return cell.verdict, matrix.lost_otherwise(cell)


def _head(language: Language, *columns: str) -> list[str]:
    """Return the head of a table of scenarios. columns: those after the claim."""
    return [text("chapter", "scenario", language), text("chapter", "claim", language), *columns]


def _changed(name: str, *, language: Language = ENGLISH) -> str:
    """Return the rows of a chapter: the scenarios whose outcome changed, and in words those that did not fit before."""
    stage = stages()[choose_from("stage", name, stages())]
    if not (now := _proven(name)):
        return text("chapter", "not_tried", language) + "\n"
    before_name, before = _before(stage)
    whole = f"[{text('chapter', 'all_scenarios', language)}](../scenarios.md#the-reference-matrix)"
    if not before_name:
        seen = [[f"`{at}`", f"`{cell.claim}`", matrix.in_short(cell, language)] for at, cell in now.items()]
        shown = table(_head(language, text("chapter", "seen", language)), seen)
        return f"{text('chapter', 'first_verdicts', language, all=whole)}\n\n{shown}"
    rows = [
        [f"`{at}`", f"`{cell.claim}`", matrix.in_short(before[at], language), matrix.in_short(cell, language)]
        for at, cell in now.items()
        if at in before and _outcome(before[at]) != _outcome(cell)
    ]
    link = f"[`{before_name}`]({before_name}.md)"
    if stage.follows != before_name:
        link = text("chapter", "skipped", language, before=link, stage=stage.follows)
    lines = [text("chapter", "no_verdict_changed", language, before=link, all=whole)]
    if rows:
        changed = table(_head(language, f"`{before_name}`", f"`{name}`"), rows).rstrip("\n")
        lines = [text("chapter", "verdicts_changed", language, before=link, all=whole, words=WORDS), "", changed]
    if new := [cell for at, cell in now.items() if at not in before]:
        tried = _in_words(new, language)
        lines += ["", text("chapter", "tried", language, stage=name, before=before_name, cells=tried)]
    return "\n".join(lines) + "\n"


def _in_words(tried: Sequence[Cell], language: Language) -> str:
    """Return what was seen in some scenarios, as part of a sentence: kept in …; failed in … (lost 4)."""
    mark = words(language)["mark"]

    def each(form: str, shown: Sequence[Cell]) -> list[str]:
        return [text("cell", form, language, scenario=cell.scenario, seen=matrix.in_short(cell, language)) for cell in shown]

    kept = [f"`{cell.scenario}`" for cell in tried if _outcome(cell) == ("KEPT", False)]
    failed = each("several", [cell for cell in tried if cell.verdict in ("ADMITTED", "BROKEN")])
    rest = each("alone", [cell for cell in tried if _outcome(cell) == ("KEPT", True) or cell.verdict == "UNSEEN"])
    groups = [
        text("cell", name, language, scenarios=mark["names_comma"].join(found))
        for name, found in (("kept_in", kept), ("failed_in", failed))
        if found
    ]
    return str(mark["part"].join([*groups, *rest]))


PARTS: dict[str, Callable[..., str]] = {"verdicts": _changed}
