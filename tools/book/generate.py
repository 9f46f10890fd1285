"""The generated parts of the documents: tables, figures and pictures, made from the shelf and the reference runs.

A part stands between ``<!-- generated: NAME ARGUMENTS -->`` and ``<!-- end -->``, in lines of its own or within a sentence.
``python -m tools.book`` writes all parts again, and ``python -m tools.book --check`` lists those that have drifted.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.lock import Claim
from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.language import Language, quoted
from lab.libraries import known_failure, scorecard
from lab.paths import HOME, REFERENCE
from lab.report import chart, comparison, hero, site
from lab.report.chart import PAPERS
from lab.report.charts import charts
from lab.report.html import named
from lab.report.reference import ladder, of_stage
from lab.report.run_page import STEPS, TIMELINES
from lab.scenario import reader
from lab.story.say import text as say
from lab.text import table
from tools.book import (
    chapters,
    experiments,
    explored,
    figures,
    matrix_views,
    translations,
)
from tools.book.translations import PART

CHARTS = ("lost",)  # of the reference ladder, those that a document shows
PICTURES = REFERENCE / "pictures"  # of the README and the site, each on light and on dark paper


def documents() -> list[Path]:
    """Return the documents that may have generated parts."""
    top = [HOME / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "app/locks/README.md")]
    return [*top, *sorted((HOME / "docs").rglob("*.md"))]


def write() -> list[Path]:
    """Draw the book's pictures and write all generated parts again. Returns the files that changed.

    Raises BadInput for an unknown part, naming the document.
    """
    changed = []
    for path, draw in pictures().items():
        before = path.read_bytes() if path.exists() else b""
        draw(path.parent)
        if path.read_bytes() != before:
            changed.append(path)
    for path in documents():
        if (text := filled(path)) != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the book's pictures: the path of each, and the function that draws it into a folder."""
    shelf = figures.illustrations().values()
    drawn: dict[Path, Callable[[Path], object]] = {
        one.folder / name: partial(figures.draw, one, language)
        for one in shelf
        for language, name in TIMELINES.items()
        if not one.steps
    }
    drawn |= {
        one.folder / name: partial(figures.draw_steps, one, language)
        for one in shelf
        for language, name in STEPS.items()
        if one.steps
    }
    heroes = {
        PICTURES / f"{stem}{name}.svg": partial(hero.draw, name=name, language=language)
        for language, stem in site.HEROES.items()
        for name in PAPERS
    }
    return (
        drawn
        | explored.pictures()
        | heroes
        | matrix_views.pictures()
        | experiments.pictures()
        | {
            named(REFERENCE / f"{name}.svg", language): partial(_chart, name, language)
            for name in CHARTS
            for language in Language
        }
    )


def _chart(name: str, language: Language, folder: Path) -> Path:
    runs = comparison.with_labels(ladder(), language)
    return chart.save(charts()[name], runs, named(folder / f"{name}.svg", language), language)


def pages() -> list[Path]:
    """Write the pages of kept results, which git does not keep, and return them."""
    written = [*matrix_views.pages_into(matrix_views.FOLDER), scorecard.write_page(scorecard.FOLDER)]
    return [path for path in (*written, *comparison.compare(ladder(), REFERENCE)) if path.suffix == ".html"]


def filled(path: Path) -> str:
    """Return the text of a document with each generated part written again; in a Chinese page, in Chinese."""
    text = path.read_text(encoding="utf-8")
    page = translations.of(path)
    return fill(text, path.name, page) if page else fill(text, path.name)


def fill(text: str, where: str = "", page: translations.Page | None = None) -> str:
    """Return the text with each generated part written again. page: the Chinese page that it is. Raises BadInput."""
    return PART.sub(lambda part: _again(part, where, page), text)


def _again(part: re.Match[str], where: str, page: translations.Page | None) -> str:
    name, *arguments = part["words"].split()
    make = PARTS[choose_from("generated part", name, PARTS, where)]
    takes = inspect.signature(make)
    if page and "language" in takes.parameters and takes.parameters["language"].kind is inspect.Parameter.KEYWORD_ONLY:
        make = partial(make, language=Language.CHINESE)
    try:
        takes.bind(*arguments)
    except TypeError as error:
        raise BadInput(f"{where}: generated: {part['words']}: {error}") from None
    made = make(*arguments)
    return f"<!-- generated: {part['words']} -->{part['block']}{translations.relinked(made, page) if page else made}<!-- end -->"


def _rungs(*names: str, language: Language = Language.ENGLISH) -> str:
    """Return the short ladder of the README: some stages, what each lost, how fast it was, what is still wrong."""
    rows = []
    for name in names:
        result = of_stage(name)
        judgement, behind = result.judgement, result.lock_servers
        form = "lost_and_refused" if judgement.failed else "lost"
        lost = say("rungs", form, language, judgement.lost, all=judgement.requests, refused=judgement.failed)
        still = quoted("still", stages()[name].story.still[0], language)
        rows.append([f"[`{name}`](docs/ladder/{name}.md)", lost, f"{result.kept_per_s:.0f}", str(behind), still])
    head = [say("rungs", column, language) for column in ("stage", "in_one_run", "kept_per_s", "servers", "still")]
    return table(head, rows)


def _claims(*, language: Language = Language.ENGLISH) -> str:
    """Return every claim, the scenarios that test it, and the stages that make it."""
    shelf = [reader.load(name) for name in reader.names()]
    rows = []
    for claim in Claim:
        tested = ", ".join(f"`{one.name}`" for one in shelf if one.tests is claim)
        made = ", ".join(f"`{name}`" for name, stage in stages().items() if claim in stage.claims)
        rows.append(
            [f"`{claim.name}`", quoted("claim", claim.value, language), tested, made or say("heads", "no_stage", language)]
        )
    return table(_heads("claim", "states", "tested_by", "made_by", language=language), rows)


def _scenarios(*, language: Language = Language.ENGLISH) -> str:
    rows = []
    for name in reader.names():
        one = reader.load(name)
        danger = ", ".join(f"`{measure}` ≥ {least}" for measure, least in one.danger.items())
        rows.append([f"`{name}`", quoted("title", one.title, language), f"`{one.tests.name}`", danger])
    return table(_heads("scenario", "situation", "tests", "danger", language=language), rows)


def _heads(*names: str, language: Language) -> list[str]:
    """Return the heads of a table's columns."""
    return [say("heads", name, language) for name in names]


def _machine(*, language: Language = Language.ENGLISH) -> str:
    record, rounds = ladder()[0].record, Counter({result.judgement.stage: len(result.repeats) for result in ladder()}.values())
    machine, versions = record.machine, record.versions
    most = max(rounds)
    name = "several" if most > 1 else "single"
    made = say(
        "machine",
        "made",
        language,
        runs=say("machine", name, language, rounds[most], most=most),
        day=record.started_utc[:10],
        cores=machine["cores"],
        processor=machine["processor"],
        python=versions["python"],
        redis=versions["redis-server"].split(" sha")[0],
    )
    return made + "\n"


PARTS: dict[str, Callable[..., str]] = {
    "rungs": _rungs,
    "claims": _claims,
    "scenarios": _scenarios,
    "machine": _machine,
    **chapters.PARTS,
    **matrix_views.PARTS,
    **explored.PARTS,
    **scorecard.DOCUMENT_PARTS,
    **experiments.PARTS,
    **known_failure.DOCUMENT_PARTS,
}
