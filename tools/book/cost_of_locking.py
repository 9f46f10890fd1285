"""The generated parts of docs/which-lock.md: the cost of each stage against one atomic command, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.locks import stages
from lab.language import Language
from lab.report import reference
from lab.report.chart import BLUE, GREEN, RED, headed, write
from lab.report.reference import CEILING, Outcome, tally, tried, worst
from lab.scenario import reader
from lab.story import say
from lab.story.say import ENGLISH
from lab.text import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRICE = "price.svg"


def by_speed() -> list[str]:
    """Return the stages that have a run in the reference ladder, the fastest first."""
    known = [name for name in stages() if reference.has_run(name)]
    return sorted(known, key=lambda name: -reference.share_of_ceiling(name))


HEAD = ("stage", "share", "servers", "commands", "wait", *Outcome)


def _costs(*, language: Language = ENGLISH) -> str:
    head = [say.text("costs", name, language, ceiling=CEILING, all=len(reader.names())) for name in HEAD]
    rows = []
    for name in by_speed():
        result = reference.of_stage(name)
        behind = str(result.lock_servers)
        numbers = map(str, tally(name).values())
        share = f"{reference.share_of_ceiling(name):.0%}"
        figures = (reference.figure(result, "commands"), reference.figure(result, "p99"))
        rows.append(
            [
                f"[`{name}`](ladder/{name}.md)",
                share,
                behind,
                *figures,
                *numbers,
            ]
        )
    return table(head, rows)


def _share(stage: str) -> str:
    return f"{reference.share_of_ceiling(stage):.0%}"


def _kept(stage: str, *, language: Language = ENGLISH) -> str:
    """Return a tally of a stage for prose."""
    number = tally(stage)
    otherwise = number.pop(Outcome.LOST_OTHERWISE)
    said = say.text("costs", "tally_otherwise", language, otherwise) if otherwise else ""
    return say.text("costs", "tally", language, all=len(reader.names()), otherwise=said, **number)


def _locks_share(*, language: Language = ENGLISH) -> str:
    """Return the range of the throughput of the locks proper, as shares of the ceiling."""
    shares = [reference.share_of_ceiling(name) for name in locks()]
    return say.text("costs", "span", language, least=f"{min(shares):.0%}", most=f"{max(shares):.0%}")


def locks() -> list[str]:
    """Return the locks proper: the stages with a store that kept ``exclusive`` in the matrix."""
    return [name for name in by_speed() if stages()[name].store and tried(name, claim="exclusive", outcome=Outcome.KEPT)]


def _kept_by_none(*, language: Language = ENGLISH) -> str:
    """Return the claims that were tested and that no stage keeps without any loss."""
    alone = [claim for claim, found in worst().items() if Outcome.KEPT not in found.values()]
    comma = str(say.words(language)["mark"]["names_comma"])
    return comma.join(f"`{claim}`" for claim in alone) or say.text("costs", "none", language)


def draw_price(folder: Path) -> Path:
    """Draw the price of each lock against the claims it keeps. Return the path of ``price.svg``."""
    return write(_price_figure, folder / PRICE)


def _price_figure() -> Figure:
    common = common_scenarios()
    names = sorted(compared(), key=lambda name: (len(_kept_of(name, common)), name))
    about = f"left: the {len(common)} scenarios of the reference matrix that fit all of these locks; right: the reference ladder"
    figure = headed(_price_finding(names, common), about, 0.9 + 0.42 * len(names))
    kept, price = figure.subplots(1, 2, sharey=True)
    rows = range(len(names))
    shares = [len(_kept_of(name, common)) / len(common) for name in names]
    kept.barh(rows, shares, color=GREEN, height=0.6)
    colours = [RED if reference.of_stage(name).judgement.lost else BLUE for name in names]
    price.barh(rows, [reference.share_of_ceiling(name) for name in names], color=colours, height=0.6)
    for row, name in enumerate(names):
        texts = (str(len(_kept_of(name, common))), f"{reference.share_of_ceiling(name):.0%}")
        for axes, words, at in zip((kept, price), texts, (shares[row], reference.share_of_ceiling(name)), strict=True):
            axes.annotate(words, (at, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=10)
    kept.set_yticks(rows, names)
    kept.set_ylim(-0.6, len(names) - 0.4)
    speed = f"increments kept a second, of {CEILING}'s" + (" (red: it lost some)" if RED in colours else "")
    for axes, label in ((kept, f"tested claims kept without any loss, of the same {len(common)}"), (price, speed)):
        axes.set_xlim(0, 1.22)
        axes.set_xticks([])
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(label)
    return figure


def compared() -> list[str]:
    """Return the locks that many scenarios fit, the fastest first. Few scenarios fit all stages, and counts of others mislead."""
    fitting = {name: len(tried(name)) for name in locks()}
    return [name for name, number in fitting.items() if 2 * number >= max(fitting.values())]


def common_scenarios() -> set[str]:
    """Return the scenarios that fit all compared locks."""
    return set.intersection(*({cell.scenario for cell in tried(name)} for name in compared()))


def _kept_of(name: str, scenarios: set[str]) -> set[str]:
    return scenarios & {cell.scenario for cell in tried(name, outcome=Outcome.KEPT)}


def _price_finding(names: list[str], common: set[str]) -> str:
    shares = [reference.share_of_ceiling(name) for name in names]
    kept = [len(_kept_of(name, common)) for name in names]
    speeds = f"{min(shares):.0%} to {max(shares):.0%} of {CEILING}'s speed"
    claims = f"{min(kept)} to {max(kept)} of the same {len(common)} tested claims"
    return f"{len(names)} locks keep {claims} without any loss, at {speeds}"


PARTS: dict[str, Callable[..., str]] = {
    "costs": _costs,
    "share": _share,
    "kept": _kept,
    "locks_share": _locks_share,
    "nobody": _kept_by_none,
}
