"""The views of the reference matrix: its core for the README, its page, and the verdicts in the documents.

Picture and page show every scenario and stage of the lab of today: what the matrix has not measured yet is drawn as not tried. A
chapter has the verdicts that changed against the stage before, docs/conditions.md a sign for each stage and condition,
docs/which-lock.md the numbers of each stage. The page of the matrix has all verdicts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

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
# from a chapter
WORDS, MATRIX = "../README.md#how-to-read-a-chapter", "../scenarios.md#the-reference-matrix"


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


def _outcome(cell: Cell) -> tuple[str, bool]:
    """Return what makes two cells the same outcome: the verdict, and whether increments were lost otherwise, but no figure."""
    return cell.verdict, matrix.lost_otherwise(cell)


def _verdicts(name: str, *, language: Language = ENGLISH) -> str:
    """Return the scenarios whose outcome changed against the stage before, and those that were not tried with it.

    The first stage of the ladder has all its outcomes.
    """
    stage, say = stages()[choose_from("stage", name, stages())], partial(text, "chapter", language=language)
    before = [_proven(stage.follows)] if stage.follows else []
    now = _proven(name)
    if not all([now, *before]):
        return say("not_tried") + "\n"
    rows = [
        [f"`{at}`", f"`{cell.claim}`", *(matrix.in_short(one[at], language) for one in before), matrix.in_short(cell, language)]
        for at, cell in now.items()
        if all(at in one and _outcome(one[at]) != _outcome(cell) for one in before)
    ]
    form = "first_verdicts" if not before else "verdicts_changed" if rows else "no_verdict_changed"
    lines = [say(form, before=f"[`{stage.follows}`]({stage.follows}.md)", all=MATRIX, words=WORDS)]
    if rows:
        head = [say("scenario"), say("claim"), *(f"`{one}`" for one in (stage.follows, name) if one)]
        lines += ["", table(head, rows).rstrip("\n")]
    seen: dict[str, list[str]] = {}
    for at, cell in sorted(now.items(), key=lambda one: one[1].verdict != "KEPT"):
        if any(at not in one for one in before):
            seen.setdefault(matrix.in_short(cell, language), []).append(f"`{at}`")
    if seen:
        mark = words(language)["mark"]
        groups = [
            text("cell", "seen", language, scenarios=mark["names_comma"].join(names), seen=one) for one, names in seen.items()
        ]
        lines += ["", say("tried", stage=name, before=stage.follows, cells=mark["part"].join(groups))]
    return "\n".join(lines) + "\n"


PARTS: dict[str, Callable[..., str]] = {"verdicts": _verdicts}
