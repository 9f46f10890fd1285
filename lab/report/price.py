"""Draw the cost of promises in speed: each stage of a ladder by its speed and its number of claims, with the Pareto front.

A stage is on the front if no faster stage promises as much. A run that lost increments or proves nothing is left out: its speed
is not the price of a lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.locks import stages
from lab.judge.judgement import Verdict
from lab.language import Language
from lab.report.chart import BLUE, GREY, conditions, headed
from lab.report.run_data import Result
from lab.story import say
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT_IN = 4.4
FEWEST = 5  # stages: a front of fewer shows nothing


class Place(NamedTuple):
    """A stage in the picture."""

    stage: str
    kept_per_s: float
    claims: int


def places(results: Sequence[Result]) -> list[Place]:
    """Return the stages of the ladder that lost nothing, the fastest first. Only runs with the most replicas are compared."""
    shelf, replicas = stages(), max(result.judgement.replicas for result in results)
    fitting = [result for result in results if result.judgement.stage in shelf and result.judgement.replicas == replicas]
    sound = [result for result in fitting if not result.judgement.lost and result.judgement.verdict is not Verdict.VOID]
    by_stage = {result.judgement.stage: result for result in reversed(sound)}
    every = [Place(name, result.kept_per_s, len(shelf[name].claims)) for name, result in by_stage.items()]
    return sorted((place for place in every if place.kept_per_s > 0), key=lambda place: -place.kept_per_s)


def front(ranked: Sequence[Place]) -> list[Place]:
    """Return the stages on the front, the fastest first. ranked: all stages, the fastest first."""
    best: list[Place] = []
    for place in ranked:
        if place.claims > max((faster.claims for faster in best), default=0):
            best.append(place)
    return best


def draw(results: Sequence[Result], language: Language = ENGLISH) -> Figure:
    """Draw a dot for each stage, and a line through the front."""
    ranked = places(results)
    best = front(ranked)
    names = say.words(language)["mark"]["names_comma"].join(place.stage for place in best)
    figure = headed(text("price", "finding", language, names=names), conditions(results, language), HEIGHT_IN)
    axes = figure.add_subplot()
    axes.scatter([place.kept_per_s for place in ranked], [place.claims for place in ranked], color=GREY, s=18)
    axes.plot([place.kept_per_s for place in best], [place.claims for place in best], color=BLUE, marker="o")
    for place in best:
        at = place.kept_per_s, place.claims
        axes.annotate(place.stage, at, (6, 4), textcoords="offset points", color=BLUE, fontweight="bold", fontsize=9.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(ranked[-1].kept_per_s / 1.4, ranked[0].kept_per_s * 1.4)  # room for the names
    axes.set_ylim(bottom=0)
    axes.set_xlabel(text("price", "speed", language))
    axes.set_ylabel(text("price", "claims", language))
    return figure
