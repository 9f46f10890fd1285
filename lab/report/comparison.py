"""Compare the runs of a ladder: charts, a table, and a page in each language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from lab.evidence.record_lines import packed, write_line
from lab.language import Language
from lab.paths import REFERENCE
from lab.report import chart, lost, price, run_data
from lab.report.html import in_both, inline, path_in
from lab.report.run_data import KEPT, Result, kept, rounds_in, with_rounds
from lab.report.statistics import Spread, geometric_mean
from lab.story import say

CEILING = "incr"  # one command of the store: no lock can be faster


def report_many(folders: Sequence[Path], into: Path) -> list[Path]:
    """Compare the runs of a ladder: write each chart and a page in each language. Return the paths, pages first.

    The record and verdict of each run are kept in a file there, from which ``report_again`` makes the comparison again.
    """
    runs = [run_data.load(folder) for folder in folders]
    for run in runs:
        write_line(into / KEPT, run.record.run, packed({name: (run.folder / name).read_bytes() for name in run_data.FACTS}))
    return report_again(into)


def report_again(folder: Path) -> list[Path]:
    """Compare the runs that a ladder's folder keeps, as ``report_many`` does."""
    return compare(with_rounds([*kept(folder / KEPT).values()], rounds_in(folder)), folder)


def compare(runs: Sequence[Result], into: Path) -> list[Path]:
    """Write each chart of some runs, and a page in each language. Return the paths, pages first."""
    into.mkdir(parents=True, exist_ok=True)
    charts = {chart.LOST: lost.draw} | ({chart.PRICE: price.draw} if len(price.places(runs)) >= price.FEWEST else {})
    drawn = {
        language: [chart.write(partial(draw, runs, language), path_in(into / name, language)) for name, draw in charts.items()]
        for language in Language
    }
    fastest = sorted(runs, key=lambda run: -run.kept_per_s)
    base = next((run for run in fastest if run.judgement.stage == CEILING), fastest[0])
    pages = in_both(
        "many.html",
        into / "index.html",
        lambda language: {
            "say": partial(say.text, "many", language=language),
            "words": say.words(language)["runs_page"],
            "results": runs,
            "pictures": [inline(path) for path in drawn[language]],
            "base": base,
            "share": lambda run: share(run, base),
            "home": f"../../{path_in(Path('README.md'), language)}" if into.resolve() == REFERENCE else "",
            "all_runs": f"../{path_in(Path('index.html'), language)}",
        },
    )
    return [*pages, *chain.from_iterable(drawn.values())]


def share(result: Result, base: Result) -> Spread | None:
    """Return the ratio of two runs' speeds, round by round if both ran in the same rounds; None if a speed is missing."""
    of_round = {repeat.round: repeat for repeat in base.repeats}
    pairs = [(repeat.kept_per_s, of_round.get(repeat.round, base.repeats[0]).kept_per_s) for repeat in result.repeats]
    return geometric_mean([own / base for own, base in pairs]) if all(own > 0 < base for own, base in pairs) else None
