"""The views of the reference matrix: its core for the README, its whole as a picture, and its page.

They show every scenario and stage of the lab of today: what the matrix has not measured yet is drawn as not tried.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from lab.experiments.matrix import decided
from lab.language.choice import Language
from lab.paths import REFERENCE
from lab.play.levels import LEVELS, LevelKind
from lab.report import matrix, matrix_page, matrix_picture, reference
from lab.report.html import named
from lab.report.matrix import Cell, Origin
from lab.report.matrix_layout import completed
from lab.report.palette import PAPERS

FOLDER = REFERENCE / "matrix"


@cache
def cells() -> list[Cell]:
    """Return a cell for each scenario and stage of the lab."""
    return completed(reference.cells())


def origin() -> Origin:
    """Return where the cells that were run are from."""
    return matrix.read(FOLDER).origin


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures: the path of each, and the function that draws it into a folder."""
    core = {
        FOLDER / f"{stem}{name}.svg": partial(_core, name=name, language=language)
        for language, stem in matrix_picture.CORES.items()
        for name in PAPERS
    }
    return {**core, FOLDER / "matrix.svg": lambda folder: matrix_picture.draw_whole(cells(), folder, origin())}


def pages() -> dict[Path, Callable[[Path], object]]:
    """Return the pages: the path of each, and the function that writes both into a folder."""
    return {named(FOLDER / "index.html", language): pages_into for language in Language}


def pages_into(folder: Path) -> list[Path]:
    return matrix_page.write_page(cells(), folder, origin(), decided=decided(cells()), home=FOLDER, levels=_levels())


def _levels() -> dict[tuple[str, str], str]:
    """Return the level of each claim of a stage that a reader can break; the easiest, where there are several."""
    breaks = [one for one in LEVELS if one.kind is LevelKind.BREAK]
    return {(one.stage, claim.name): f"../play/{one.name}.html" for one in reversed(breaks) for claim in one.claims}


def _core(folder: Path, name: str, language: Language) -> Path:
    return matrix_picture.draw_core(cells(), folder, origin(), name, language)
