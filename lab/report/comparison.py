"""The comparison of the runs of a ladder: charts, a table, and a page in each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from lab.errors import BadInput, in_short
from lab.evidence.run_folder import replace
from lab.judge.judgement import VERDICT
from lab.language import Language
from lab.paths import REFERENCE
from lab.report import chart, lost, price, run_data
from lab.report.html import in_both, inline, named
from lab.report.run_data import Result, rounds_in, with_rounds
from lab.report.run_page import Way, report_run
from lab.report.statistics import Spread, geometric_mean
from lab.story import say

CEILING = "incr"  # one command of the store: no lock can be faster
README = {Language.ENGLISH: "README.md", Language.CHINESE: "README.zh.md"}


def report_many(folders: Sequence[Path], into: Path) -> list[Path]:
    """Compare the runs of a ladder: write each chart and a page in each language. Return the paths, pages first.

    The record and verdict of each run are copied too, so that the comparison can be made again from ``into`` alone.
    """
    runs = with_rounds([_result(folder) for folder in folders], rounds_in(into))
    for result in runs:
        facts = into / "runs" / result.record.run
        if any(path.is_symlink() for path in (facts, facts.parent)):
            raise BadInput(f"{facts} is a link, or in one: the lab does not write through it")
        if facts.resolve() != result.folder.resolve():
            facts.mkdir(parents=True, exist_ok=True)
            for name in run_data.FACTS:
                replace(facts / name, (result.folder / name).read_bytes())
    return compare(runs, into)


def compare(runs: Sequence[Result], into: Path) -> list[Path]:
    """Write each chart of some runs, and a page in each language. Return the paths, pages first."""
    into.mkdir(parents=True, exist_ok=True)
    charts = {chart.LOST: lost.draw} | ({chart.PRICE: price.draw} if len(price.places(runs)) >= price.FEWEST else {})
    drawn = {
        language: [chart.save(draw, runs, named(into / name, language), language) for name, draw in charts.items()]
        for language in Language
    }
    fastest = sorted(runs, key=lambda one: -one.kept_per_s)
    base = next((one for one in fastest if one.judgement.stage == CEILING), fastest[0])
    pages = in_both(
        "many.html",
        into / "index.html",
        lambda language: {
            "say": partial(say.text, "many", language=language),
            "words": say.words(language)["runs_page"],
            "results": runs,
            "pictures": [inline(one) for one in drawn[language]],
            "base": base,
            "share": lambda one: share(one, base),
            "ways": list(_ways(into, language)),
        },
    )
    return [*pages, *chain.from_iterable(drawn.values())]


def share(result: Result, base: Result) -> Spread | None:
    """Return the speed as a ratio to the other run's, round by round where both ran in the same rounds; None without a speed."""
    of_round = {one.round: one for one in base.repeats}
    pairs = [(one.kept_per_s, of_round.get(one.round, base.repeats[0]).kept_per_s) for one in result.repeats]
    return geometric_mean([own / other for own, other in pairs]) if all(own > 0 < other for own, other in pairs) else None


def _ways(folder: Path, language: Language) -> Iterator[Way]:
    """Yield where a reader of a comparison goes on: to the list of all runs, and from the reference to its other pages."""
    if folder.resolve() != REFERENCE:
        yield Way(say.text("many", "all_runs", language), f"../{named(Path('index.html'), language)}")
        return
    yield Way(say.text("many", "home", language), f"../../{README[language]}", outside=True)
    for name, place in (("matrix", "matrix"), ("libraries", "libraries"), ("play", "../play")):
        page = named(folder / place / "index.html", language)
        if (page.parent / "index.html").exists():
            address = f"{place}/{page.name}" if page.exists() else f"{place}/index.html?lang={language}"
            yield Way(say.text("many", name, language), address)
    for path in sorted((folder / "experiments").glob("*.zh.svg")):
        which = path.name.partition(".")[0]
        yield Way(say.text("many", "experiment", language, which=which), f"experiments/{named(Path(f'{which}.svg'), language)}")


def runs_in(folder: Path) -> list[Path]:
    """Return the folders of the runs in a comparison's folder, in the order in which they were run. Links are left out."""
    runs = folder / "runs"
    found = sorted(path.parent for path in runs.glob("*/run.json"))
    return [path for path in found if not path.is_symlink()] if not runs.is_symlink() else []


def _result(folder: Path) -> Result:
    if not (folder / VERDICT).exists():
        report_run(folder)
    try:
        return run_data.load(folder)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} cannot be compared: {in_short(error)}") from None
