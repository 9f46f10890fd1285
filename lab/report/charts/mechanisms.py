"""Why increments were lost: one bar for each run, with one part for each cause. The parts add up to what the run lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.evidence.loss import Mechanism
from lab.language import Language
from lab.report.chart import FEW, RED, conditions, legend_below, title, title_width
from lab.report.run_data import Result
from lab.story import say
from lab.story.say import ENGLISH, text
from lab.text import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++", "oo")
TINTS = (0.9, 0.6, 0.4, 0.25)


def fits(results: Sequence[Result]) -> bool:
    """Return whether a run lost increments."""
    return any(result.judgement.lost_by for result in results)


def height(results: Sequence[Result]) -> float:
    """Return the height for the runs that it draws."""
    return 1.9 + 0.42 * len(_drawn(results))


def _drawn(results: Sequence[Result]) -> Sequence[Result]:
    """Return all of a few runs; of many, those that lost increments."""
    return results if len(results) <= FEW else [result for result in results if result.judgement.lost_by]


def draw(axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
    from matplotlib.ticker import MaxNLocator

    results = _drawn(results)
    labels = [result.label for result in results]
    left = [0] * len(results)
    for number, mechanism in enumerate(_total(results)):
        sizes = [result.judgement.lost_by.get(mechanism, 0) for result in results]
        tint, hatch = TINTS[number % len(TINTS)], HATCHES[number % len(HATCHES)]
        axes.barh(
            labels,
            sizes,
            left=left,
            height=0.7,
            facecolor=(RED, tint),
            hatch=hatch,
            edgecolor="white",
            label=say.mechanism(mechanism, language),
        )
        left = [before + size for before, size in zip(left, sizes, strict=True)]
    for row, total in enumerate(left):
        words = thousands(total) if total else text("chart", "none", language)
        axes.annotate(words, (total, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max(left) * 1.14)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(text("chart", "lost", language))
    legend_below(axes, language)
    title(axes, _finding(results, language), conditions(results, language), title_width([result.label for result in results]))


def _total(results: Sequence[Result]) -> list[Mechanism]:
    """Return the causes, in the order of how much they took in all runs, largest first."""
    total: Counter[Mechanism] = Counter()
    for result in results:
        total += Counter(result.judgement.lost_by)
    return [mechanism for mechanism, _ in total.most_common()]


def _finding(results: Sequence[Result], language: Language) -> str:
    worst = max((result for result in results if result.judgement.lost_by), key=lambda result: result.judgement.lost)
    lost, (mechanism, number) = worst.judgement.lost, next(iter(worst.judgement.lost_by.items()))
    places = {"stage": worst.label, "lost": thousands(lost), "cause": say.mechanism(mechanism, language)}
    if number == lost:
        return text("chart", "lost_most", language, 1, **places)
    return text("chart", "lost_most_part", language, 1, share=f"{100 * number / lost:.0f}%", **places)
