"""Say what a round has shown: in a sentence, in a picture of acknowledged against counted over time, and in JUnit's XML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.count.sums import BAD, Result, Round
from lab.language import Language
from lab.report import chart
from lab.report.html import page
from lab.story.say import ENGLISH, text
from lab.text import printable, thousands

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT_IN = 3.6


def sentence(one: Round, language: Language = ENGLISH) -> str:
    """Return what a round shows, with the bounds that unknown requests leave."""
    found, result = one.figures(), one.result()
    name: str = "lost_between" if found["unknown"] and result is Result.LOST else result
    if result is Result.ALONE and not found["acknowledged"]:
        name = "none"
    elif result is Result.LOST and found["grown"] < 0:
        name = "shrunk"
    shown = {name: thousands(number) for name, number in found.items()}
    return text("count", name, language, found["harm"], stock=one.stock, **shown)


def draw(one: Round, path: Path, language: Language) -> None:
    """Draw the acknowledged requests and the number over time."""

    def drawn() -> Figure:
        began_s, found = min(request.start_s for request in one.requests), one.figures()
        told_s = sorted(request.end_s - began_s for request in one.requests if request.outcome == "acknowledged")
        conditions = text("count", "conditions", language, one.users, requests=len(one.requests), at_once=found["at_once"])
        axes = (figure := chart.headed(sentence(one, language), conditions, HEIGHT_IN)).add_subplot()
        times_s = [at_s - began_s for at_s, _ in one.samples]
        counted = [(number - found["before"]) * one.step for _, number in one.samples]
        axes.step([0, *told_s], range(len(told_s) + 1), where="post", color=chart.GREEN, label=text("count", "told", language))
        axes.plot(times_s, counted, marker=".", color=chart.BLUE, label=text("count", "counted", language))
        if one.stock is not None:
            axes.axhline(one.stock, color="black", linestyle=":", label=text("count", "in_stock", language))
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, 1.03 * max(request.end_s - began_s for request in one.requests))
        axes.set_xlabel(text("count", "seconds", language))
        axes.legend(loc="upper left")
        return figure

    chart.write(drawn, path)


def junit(rounds: Sequence[Round], tested: str) -> str:
    """Return the rounds as cases of JUnit's XML. tested: the address or the locustfile."""
    cases = []
    for number, one in enumerate(rounds, 1):
        took_s = max(request.end_s for request in one.requests) - min(request.start_s for request in one.requests)
        about = {"is_broken": one.result() in BAD, "is_kept": one.result() is Result.AGREES, "took_s": took_s}
        cases.append({"name": f"round {number}: {one.users} users", "words": sentence(one), **about})
    return printable(page("junit.xml.j2", suite=f"lab count {tested}", cases=cases))
