"""The generated parts of the documents: tables, figures and pictures, made from the shelf and the reference runs.

A part stands between ``<!-- generated: NAME ARGUMENTS -->`` and ``<!-- end -->``, in lines of its own or within a sentence.
``python -m tools.book`` writes all parts again, and ``python -m tools.book --check`` lists those that have drifted.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lab.errors import BadInput, choose_from
from lab.experiments import drawing, experiment
from lab.experiments.result import KEPT, load
from lab.language import Language
from lab.libraries import scorecard
from lab.paths import HOME, REFERENCE
from lab.report import chart, comparison, hero, site
from lab.report.chart import PAPERS
from lab.report.charts import charts
from lab.report.html import named
from lab.report.reference import ladder
from tools.book import chapters, explored, figures, matrix_views, translations
from tools.book.translations import PART

CHARTS = ("lost",)  # of the reference ladder, those that a document shows
PICTURES = REFERENCE / "pictures"  # of the README and the site, each on light and on dark paper


def documents() -> list[Path]:
    """Return the documents that may have generated parts."""
    top = [HOME / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "app/locks/README.md")]
    return [*top, *sorted((HOME / "docs").rglob("*.md"))]


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the book's pictures: the path of each, and the function that draws it into a folder."""
    heroes = {
        PICTURES / f"{stem}{name}.svg": partial(hero.draw, name=name, language=language)
        for language, stem in site.HEROES.items()
        for name in PAPERS
    }
    charted = {
        named(REFERENCE / f"{name}.svg", language): partial(_chart, name, language) for name in CHARTS for language in Language
    }
    measured = {
        named(KEPT / f"{name}.svg", language): partial(_experiment, name)
        for name in experiment.names()
        for language in Language
        if (KEPT / f"{name}.csv").exists()
    }
    return figures.pictures() | explored.pictures() | heroes | matrix_views.pictures() | measured | charted


def _chart(name: str, language: Language, folder: Path) -> Path:
    runs = comparison.with_labels(ladder(), language)
    return chart.save(charts()[name], runs, named(folder / f"{name}.svg", language), language)


def _experiment(name: str, folder: Path) -> None:
    drawing.write(load(KEPT / f"{name}.csv"), folder)


def pages() -> list[Path]:
    """Write the pages of kept results, which git does not keep, and return them."""
    written = [*matrix_views.pages_into(matrix_views.FOLDER), scorecard.write_page(scorecard.FOLDER)]
    return [path for path in (*written, *comparison.compare(ladder(), REFERENCE)) if path.suffix == ".html"]


def filled(path: Path) -> str:
    """Return the text of a document with each generated part written again; in a Chinese page, in Chinese."""
    return fill(path.read_text(encoding="utf-8"), path)


def fill(text: str, path: Path) -> str:
    """Return the text of the document at a path with each generated part written again. Raises BadInput."""
    is_chinese = path in translations.pages()
    return PART.sub(lambda part: _again(part, path, is_chinese), text)


def _again(part: re.Match[str], path: Path, is_chinese: bool) -> str:
    name, *arguments = part["words"].split()
    make = PARTS[choose_from("generated part", name, PARTS, path.name)]
    if is_chinese and "language" in inspect.signature(make).parameters:
        make = partial(make, language=Language.CHINESE)
    try:
        inspect.signature(make).bind(*arguments)
    except TypeError as error:
        raise BadInput(f"{path.name}: generated: {part['words']}: {error}") from None
    made = make(*arguments)
    made = translations.relinked(made, path) if is_chinese else made
    return f"<!-- generated: {part['words']} -->{part['block']}{made}<!-- end -->"


PARTS: dict[str, Callable[..., str]] = {**chapters.PARTS, **matrix_views.PARTS, **explored.PARTS}
