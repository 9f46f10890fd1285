"""Write the generated parts of the documents: tables, figures and pictures, made from stages and reference runs; also the
files for containers, made from one description.

A part stands between ``<!-- generated: NAME ARGUMENTS -->`` and ``<!-- end -->``, in lines of its own or within a sentence.
``python -m tools.book`` writes all parts again, and ``python -m tools.book --check`` lists the parts that differ. Pictures are
compared with a tolerance, because machines round differently. Pictures without matplotlib must be equal in each byte.
"""

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2

from lab.errors import BadInput, choose_from
from lab.experiments import drawing, experiment
from lab.experiments.matrix import decided
from lab.experiments.result import KEPT, load
from lab.explore.play.levels import LEVELS, LevelKind
from lab.language import Language
from lab.libraries import scorecard
from lab.paths import HOME, REFERENCE
from lab.report import chart, comparison, hero, lost, matrix, matrix_page, matrix_picture, price, reference
from lab.report.html import path_in
from lab.report.matrix import Cell
from lab.report.matrix_layout import completed
from lab.report.reference import ladder
from tools.book import chapters, explored, figures, translations
from tools.book.translations import PART

CHARTS = {REFERENCE / chart.LOST: lost.draw, REFERENCE / chart.PRICE: price.draw}  # the charts of the reference ladder
MATRIX = REFERENCE / "matrix"
LEVEL_PAGES = HOME / "reports" / "play"  # `lab play` writes them
PICTURES = REFERENCE / "pictures"  # the pictures of the README and the site
SERVICES = HOME / "lab" / "containers" / "config" / "services.yml.j2"
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
TEXT = re.compile(r">[^<]+")
AN_ID = re.compile(r'(id="|href="#|url\(#)[^")]*')  # matplotlib makes ids from the drawn numbers
WITHIN = 0.5  # points: a smaller difference is invisible
LIBRARY = "matplotlib"  # its name is in each picture that it draws


def documents() -> list[Path]:
    """Return the documents that may have generated parts."""
    top = [HOME / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "app/locks/README.md")]
    return [*top, *sorted((HOME / "docs").rglob("*.md"))]


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the book's pictures: the path of each, and the function that draws it into a folder."""
    first = {
        path_in(path, language): partial(draw, language=language)
        for path, draw in ((PICTURES / "hero.svg", hero.draw), (MATRIX / "core.svg", _core))
        for language in Language
    }
    compared = {
        path_in(path, language): partial(_compared, draw, path_in(path, language).name, language)
        for path, draw in CHARTS.items()
        for language in Language
    }
    measured = {
        path_in(KEPT / f"{name}.svg", language): partial(_experiment, name, language)
        for name in experiment.names()
        for language in Language
        if (KEPT / f"{name}.csv").exists()
    }
    return figures.pictures() | explored.pictures() | first | measured | compared


def _core(folder: Path, language: Language = Language.ENGLISH) -> Path:
    return matrix_picture.draw_core(cells(), folder, matrix.read(MATRIX).origin, language)


def _compared(draw: Callable[..., Any], name: str, language: Language, folder: Path) -> None:
    chart.write(lambda: draw(ladder(), language), folder / name)


def _experiment(name: str, language: Language, folder: Path) -> None:
    result = load(KEPT / f"{name}.csv")
    drawing.draw(result, experiment.load(name), path_in(folder / f"{name}.svg", language), language)


def pages() -> list[Path]:
    """Write the pages of kept results, which git does not keep, and return them."""
    written = [*matrix_pages(MATRIX), scorecard.write_page(scorecard.FOLDER)]
    return [path for path in (*written, *comparison.compare(ladder(), REFERENCE)) if path.suffix == ".html"]


@cache
def cells() -> list[Cell]:
    """Return a cell for each scenario and stage of the lab; without a measurement, the cell is not tried."""
    return completed(reference.cells())


def matrix_pages(folder: Path) -> list[Path]:
    """Write the page of the matrix in each language into a folder, and return them.

    If a reader can break a claim of a stage in a level, the cell has a link to the level; to the easiest, if there are several.
    """
    breaks = [level for level in LEVELS if level.kind is LevelKind.BREAK and (LEVEL_PAGES / f"{level.name}.html").exists()]
    levels = {(level.stage, claim.name): f"../../play/{level.name}.html" for level in reversed(breaks) for claim in level.claims}
    origin = matrix.read(MATRIX).origin
    return matrix_page.write_page(cells(), folder, origin, decided=decided(cells()), home=MATRIX, levels=levels)


def fill(text: str, path: Path) -> str:
    """Return the text of the document at a path with each part written again; in Chinese in a Chinese page. Raises BadInput."""
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
    content = make(*arguments)
    if is_chinese:  # its folder is one deeper; other links lead to Chinese pages, whose headings have the English names as well
        content = content.replace("](../../reports/", "](../../../reports/")
    return f"<!-- generated: {part['words']} -->{part['block']}{content}<!-- end -->"


PARTS: dict[str, Callable[..., str]] = {**chapters.PARTS, **explored.PARTS}


def same_picture(first: str, second: str) -> bool:
    """Return whether two SVGs look the same: the same elements and texts in the same order, at the same places."""
    if first == second or LIBRARY not in first or LIBRARY not in second:
        return first == second
    drawn, kept = (AN_ID.sub(r"\1", picture) for picture in (first, second))
    if TEXT.findall(drawn) != TEXT.findall(kept) or NUMBER.split(drawn) != NUMBER.split(kept):
        return False
    places = zip(NUMBER.findall(drawn), NUMBER.findall(kept), strict=True)
    return all(abs(float(drawn_at) - float(kept_at)) <= WITHIN for drawn_at, kept_at in places)


def drifted() -> Iterator[tuple[Path, str]]:
    """Yield each document and picture that is missing or differs from its new version, with the new text.

    Raises BadInput for a part that cannot be made, naming the document.
    """
    for path, draw in pictures().items():
        with tempfile.TemporaryDirectory() as folder:
            draw(Path(folder))
            new = Path(folder, path.name).read_text(encoding="utf-8")
        if not path.exists() or not same_picture(new, path.read_text(encoding="utf-8")):
            yield path, new
    for path in [*documents(), *HOME.glob("docker-*.yml")]:
        old = path.read_text(encoding="utf-8")
        if (new := _services(path) if path.suffix == ".yml" else fill(old, path)) != old:
            yield path, new


def _services(path: Path) -> str:
    """Return the new text of a file for containers, by its path."""
    text = SERVICES.read_text(encoding="utf-8")
    template: jinja2.Template = jinja2.Template(text, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return template.render(file=path.name)
