"""What promises cost in speed: each stage of a ladder by its speed and by the number of its claims, with the Pareto front.

A stage is on the front if no faster one promises as much. A run that lost increments or proves nothing has no place: its speed is
no price of a lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from app.locks import stages
from lab.judge.judgement import Verdict
from lab.language import Language
from lab.report.chart import BLUE, GREY, SOFT, conditions, headed
from lab.report.run_data import Result
from lab.story import say
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT_IN = 4.4
LEFT, RIGHT = (-6, -3), (6, -3)  # points from its dot to the name of a stage
BELOW_FRONT = dict.fromkeys(("setnx", "uuid", "watchdog", "fencing", "redlock", "etcd_fenced"), LEFT) | {"lua": RIGHT}
FEWEST = 5  # stages: with fewer, a front says nothing


class Place(NamedTuple):
    """A stage in the picture."""

    stage: str
    kept_per_s: float
    claims: int


def places(results: Sequence[Result]) -> list[Place]:
    """Return the stages of the ladder whose runs lost nothing, the fastest first. A run of fewer replicas is not compared."""
    shelf, replicas = stages(), max(one.judgement.replicas for one in results)
    fitting = [one for one in results if one.judgement.stage in shelf and one.judgement.replicas == replicas]
    sound = [one for one in fitting if not one.judgement.lost and one.judgement.verdict is not Verdict.VOID]
    named = {one.judgement.stage: one for one in reversed(sound)}
    found = [Place(name, one.kept_per_s, len(shelf[name].claims)) for name, one in named.items() if one.kept_per_s > 0]
    return sorted(found, key=lambda one: -one.kept_per_s)


def front(found: Sequence[Place]) -> list[Place]:
    """Return the stages that no other one surpasses, the fastest first. found: the fastest first."""
    return [one for number, one in enumerate(found) if one.claims > max((faster.claims for faster in found[:number]), default=0)]


def draw(results: Sequence[Result], language: Language = ENGLISH) -> Figure:
    """Draw a dot for each stage, and a line through the front."""
    found = places(results)
    best = front(found)
    names = say.words(language)["mark"]["names_comma"].join(one.stage for one in best)
    figure = headed(text("price", "finding", language, names=names), conditions(results, language), HEIGHT_IN)
    axes = figure.add_subplot()
    axes.scatter([one.kept_per_s for one in found], [one.claims for one in found], color=GREY, s=18)
    axes.plot([one.kept_per_s for one in best], [one.claims for one in best], color=BLUE, marker="o")
    for one in found:
        if one in best or one.stage in BELOW_FRONT:
            aside = (6, 4) if one in best else BELOW_FRONT[one.stage]
            look: dict[str, Any] = {"color": BLUE, "fontweight": "bold"} if one in best else {"color": SOFT}
            look |= {"ha": "left" if aside[0] > 0 else "right", "textcoords": "offset points", "fontsize": 9.5}
            axes.annotate(one.stage, (one.kept_per_s, one.claims), xytext=aside, **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(found[-1].kept_per_s / 1.4, found[0].kept_per_s * 1.4)  # room for the names
    axes.set_ylim(bottom=0)
    axes.set_xlabel(text("price", "speed", language))
    axes.set_ylabel(text("price", "claims", language))
    return figure
