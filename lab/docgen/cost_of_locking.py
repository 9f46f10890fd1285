"""The generated parts of docs/which-lock.md: the cost of each stage against one atomic command, and the claims it keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from app.lock import Claim
from app.locks import stages
from lab.report import matrix, reference
from lab.report.chart import BLUE, GREEN, RED, STYLE
from lab.report.matrix import Cell
from lab.report.reference import CEILING

PRICE = "price.svg"


def seen(stage: str, verdict: str) -> list[Cell]:
    """Return the cells of a stage in the reference matrix that have this verdict."""
    return [cell for cell in reference.cells() if cell.stage == stage and cell.verdict == verdict]


def fits(stage: str) -> int:
    """Return how many scenarios fit a stage."""
    return sum(1 for cell in reference.cells() if cell.stage == stage and cell.verdict)


def by_speed() -> list[str]:
    """Return the stages that have a run in the reference ladder, the fastest first."""
    known = [name for name in stages() if reference.has_run(name)]
    return sorted(known, key=lambda name: -reference.of_stage(name).judgement.kept_per_s)


def _costs() -> str:
    head = [
        "stage",
        f"kept a second, of `{CEILING}`'s",
        "commands per increment",
        "wait p99, ms",
        "scenarios kept",
        "harm shown (not claimed)",
    ]
    rows = [head, ["---"] * len(head)]
    for name in by_speed():
        judgement = reference.of_stage(name).judgement
        harms = ", ".join(f"`{claim}`" for claim in dict.fromkeys(cell.claim for cell in seen(name, "ADMITTED"))) or "none"
        kept = f"{len(seen(name, 'KEPT'))} of {fits(name)}"
        share = f"{reference.share_of_ceiling(name):.0%}"
        figures = (reference.figure(judgement, "commands"), reference.figure(judgement, "p99"))
        rows.append([f"[`{name}`](ladder/{name}.md)", share, *figures, kept, harms])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _keepers() -> str:
    """Return for each claim the stages that keep it and the stages that break it, the fastest first."""
    about = verdicts()
    lines = ["| the claim you need | kept by, the fastest first | broken by |", "| --- | --- | --- |"]
    for claim in Claim:
        if of := about.get(claim.name):
            kept = [f"`{name}`" for name in by_speed() if of.get(name) == {"KEPT"}]
            broken = [f"`{name}`" for name in by_speed() if "ADMITTED" in of.get(name, ())]
            lines.append(
                f"| `{claim.name}`: {claim.value} | {', '.join(kept) or 'no stage'} | {', '.join(broken) or 'no stage'} |"
            )
    return "\n".join(lines) + "\n"


def verdicts() -> dict[str, dict[str, set[str]]]:
    """Return the verdicts of each claim with each stage; several scenarios may test one claim."""
    about: dict[str, dict[str, set[str]]] = {}
    for cell in reference.cells():
        if cell.verdict:
            about.setdefault(cell.claim, {}).setdefault(cell.stage, set()).add(cell.verdict)
    return about


def _share(stage: str) -> str:
    return f"{reference.share_of_ceiling(stage):.0%}"


def _kept(stage: str) -> str:
    return f"{len(seen(stage, 'KEPT'))} of {fits(stage)}"


def _locks_share() -> str:
    """Return the range of the throughput of the locks proper, as shares of the ceiling."""
    shares = [reference.share_of_ceiling(name) for name in locks()]
    return f"{min(shares):.0%} to {max(shares):.0%}"


def locks() -> list[str]:
    """Return the locks proper: the stages with a store that kept ``exclusive`` in the matrix."""
    return [name for name in by_speed() if stages()[name].store and "exclusive" in {cell.claim for cell in seen(name, "KEPT")}]


def _kept_by_none() -> str:
    """Return the claims that were tested and that no stage keeps."""
    alone = [claim for claim, stages_of in verdicts().items() if {"KEPT"} not in stages_of.values()]
    return ", ".join(f"`{claim}`" for claim in alone) or "none"


def _harms(stage: str) -> str:
    return ", ".join(f"`{cell.scenario}` ({matrix.in_short(cell)})" for cell in seen(stage, "ADMITTED")) or "none"


def draw_price(folder: Path) -> Path:
    """Draw the price of each lock against the claims it keeps. Return the path of ``price.svg``."""
    with style.context(STYLE):
        figure = _price_figure()
        path = folder / PRICE
        figure.savefig(path, metadata={"Date": None})
    return path


def _price_figure() -> Figure:
    common = common_scenarios()
    names = sorted(compared(), key=lambda name: (len(_kept_of(name, common)), name))
    figure = Figure(figsize=(9.6, 1.9 + 0.42 * len(names)), layout="constrained")
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
    speed = f"increments kept a second, of {CEILING}'s" + (" (red: it lost some)" if RED in colours else "")
    for axes, label in ((kept, f"tested claims kept, of the same {len(common)}"), (price, speed)):
        axes.set_xlim(0, 1.22)
        axes.set_xticks([])
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(label)
    figure.suptitle(_price_finding(names, common), x=0.01, ha="left", fontsize=13, fontweight="bold")
    below = f"left: the {len(common)} scenarios of the reference matrix that fit all of these locks; right: the reference ladder"
    figure.supxlabel(below, x=0.01, ha="left", fontsize=10, color="#555555")
    return figure


def compared() -> list[str]:
    """Return the locks that many scenarios fit, the fastest first. Few scenarios fit all stages, and counts of others mislead."""
    most = max(fits(name) for name in locks())
    return [name for name in locks() if 2 * fits(name) >= most]


def common_scenarios() -> set[str]:
    """Return the scenarios that fit all compared locks."""
    fitting = [{cell.scenario for cell in reference.cells() if cell.stage == name and cell.verdict} for name in compared()]
    return set.intersection(*fitting)


def _kept_of(name: str, scenarios: set[str]) -> set[str]:
    return scenarios & {cell.scenario for cell in seen(name, "KEPT")}


def _price_finding(names: list[str], common: set[str]) -> str:
    shares = [reference.share_of_ceiling(name) for name in names]
    kept = [len(_kept_of(name, common)) for name in names]
    speeds = f"{min(shares):.0%} to {max(shares):.0%} of {CEILING}'s speed"
    return f"{len(names)} locks keep {min(kept)} to {max(kept)} of the same {len(common)} tested claims, at {speeds}"


PARTS: dict[str, Callable[..., str]] = {
    "costs": _costs,
    "keepers": _keepers,
    "share": _share,
    "kept": _kept,
    "harms": _harms,
    "locks_share": _locks_share,
    "nobody": _kept_by_none,
}
