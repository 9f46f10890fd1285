"""The long waits of many runs: what 1 in 100 grants waited longer than, by family."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.language.choice import Language
from lab.report import family_dots
from lab.report.chart import FEW, conditions, title
from lab.report.repeats import Spread, spread
from lab.report.run_data import Result
from lab.story.say import ENGLISH, text
from lab.text import thousands


def fits(results: Sequence[Result]) -> bool:
    """Return whether the runs are many, and one of them has waits."""
    return len(results) > FEW and any(p99(result) for result in results)


def height(results: Sequence[Result]) -> float:
    return family_dots.height(results)


def p99(result: Result) -> Spread | None:
    """Return the wait that 1 in 100 grants exceeded; None where no request waited for a lock."""
    waits = [one.wait_p99_ms for one in result.repeats]
    return spread(waits) if result.series.wait_ms and min(waits) > 0 else None


def draw(axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
    family_dots.draw(axes, results, language, p99, lambda ms: thousands(ms) if ms >= 1 else f"{ms:.1g}")
    axes.set_xlabel(text("chart", "waits", language))
    title(axes, _finding(results, language), conditions(results, language), family_dots.title_width(results, language))


def _finding(results: Sequence[Result], language: Language) -> str:
    found = [(wait.value, result) for result in results if (wait := p99(result))]
    if not found:
        return text("chart", "waits_none", language, len(results))
    ms, longest = max(found, key=lambda one: one[0])
    return text("chart", "waits_longest", language, stage=longest.label, ms=thousands(ms))
