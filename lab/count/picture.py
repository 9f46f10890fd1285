"""Show the result of a round: in a sentence, in a picture of acknowledged and counted over time, and in JUnit's XML."""

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


def sentence(round_: Round, language: Language = ENGLISH) -> str:
    """Return the result of a round as a sentence, with the bounds that unknown requests leave."""
    figures, result = round_.figures(), round_.result()
    name: str = "lost_between" if figures["unknown"] and result is Result.LOST else result
    if result is Result.ALONE and not figures["acknowledged"]:
        name = "none"
    elif result is Result.LOST and figures["grown"] < 0:
        name = "shrunk"
    formatted = {name: thousands(number) for name, number in figures.items()}
    return text("count", name, language, figures["harm"], stock=round_.stock, **formatted)


def draw(round_: Round, path: Path, language: Language) -> None:
    """Draw the acknowledged requests and the number over time."""

    def drawn() -> Figure:
        began_s, figures = min(request.start_s for request in round_.requests), round_.figures()
        told_s = sorted(request.end_s - began_s for request in round_.requests if request.outcome == "acknowledged")
        conditions = text(
            "count", "conditions", language, round_.users, requests=len(round_.requests), at_once=figures["at_once"]
        )
        axes = (figure := chart.headed(sentence(round_, language), conditions, HEIGHT_IN)).add_subplot()
        times_s = [at_s - began_s for at_s, _ in round_.samples]
        counted = [(number - figures["before"]) * round_.step for _, number in round_.samples]
        axes.step([0, *told_s], range(len(told_s) + 1), where="post", color=chart.GREEN, label=text("count", "told", language))
        axes.plot(times_s, counted, marker=".", color=chart.BLUE, label=text("count", "counted", language))
        if round_.stock is not None:
            axes.axhline(round_.stock, color="black", linestyle=":", label=text("count", "in_stock", language))
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, 1.03 * max(request.end_s - began_s for request in round_.requests))
        axes.set_xlabel(text("count", "seconds", language))
        axes.legend(loc="upper left")
        return figure

    chart.write(drawn, path)


def junit(rounds: Sequence[Round], tested: str) -> str:
    """Return the rounds as cases of JUnit's XML. tested: the address or the locustfile."""
    cases = []
    for number, round_ in enumerate(rounds, 1):
        took_s = max(request.end_s for request in round_.requests) - min(request.start_s for request in round_.requests)
        facts = {"is_broken": round_.result() in BAD, "is_kept": round_.result() is Result.AGREES, "took_s": took_s}
        cases.append({"name": f"round {number}: {round_.users} users", "words": sentence(round_), **facts})
    return printable(page("junit.xml.j2", suite=f"lab count {tested}", cases=cases))
