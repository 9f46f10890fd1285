"""The waits of both loops as a table, and as a picture on light and on dark paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.experiments import measurement
from lab.experiments.omission import (
    CLOSED,
    CORRECTED,
    LUA,
    OPEN,
    QUANTILES,
    RATE_PER_S,
    REQUESTS,
    SITUATIONS,
    UNFROZEN,
    USERS,
    Loop,
    OmissionBenchmark,
    Situation,
    TimedRun,
    View,
    ends,
    longer_than,
    of,
)
from lab.paths import REFERENCE
from lab.report.chart import DARK, FONTS, LIGHT, PAPERS, Paper, headed
from lab.report.chart import write as write_chart
from lab.report.statistics import Spread, mean_of_ratios, of_amounts
from lab.text import counted, table, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEPT = REFERENCE / "omission"
FILE, STEM = "omission.json", "omission"
SLOW_MS = 200  # hardly any request waits so long where nothing is frozen
HEIGHT_IN = 3.9
BEFORE_MS, AFTER_MS = 400, 1200  # what the dots show before the freeze, and after it began
# of the open loop and the closed loop; lines have no colour with a meaning
COLOURS = {LIGHT.page: ("#0072B2", "#8B6914"), DARK.page: ("#4da3e0", "#c09a3a")}


def write(found: OmissionBenchmark, into: Path) -> list[Path]:
    """Write ``omission.json``, ``omission.md``, and the picture light and dark. Return the paths."""
    files = measurement.save(found, into / FILE, markdown(found))
    return [*files, *(draw_one(found, into, name) for name in PAPERS)]


def load(folder: Path) -> OmissionBenchmark:
    """Return the measurement in a folder. Raises BadInput where there is none."""
    return measurement.load(folder / FILE, OmissionBenchmark)


def quantiles(runs: Sequence[TimedRun], situation: Situation, view: View, name: str) -> Spread:
    """Return a quantile of a view's waits in ms: the mean of its rounds, with the interval."""
    return of_amounts(ends(runs, situation, view, name))


def markdown(found: OmissionBenchmark) -> str:
    """Return how it was measured, and a row for each situation and view."""
    names = ("p50", "p90", "p95", "p99", "longest")
    head = ["the run", "loop, and what its waits count from", *(f"{name}, ms" for name in names), f"longer than {SLOW_MS} ms"]
    rows = []
    for situation in SITUATIONS:
        for view in (OPEN, CLOSED, CORRECTED):
            runs = of(found.points, situation, view.loop)
            slow = sum(longer_than(view.waits_ms(run), SLOW_MS) for run in runs) / len(runs)
            waits = (f"{quantiles(found.points, situation, view, name).value:.0f}" for name in names)
            rows.append([f"`{situation.name}`", view.words, *waits, f"{slow:.0f} of {REQUESTS}"])
    return f"{measured(found)}\n\n{table(head, rows)}"


def measured(found: OmissionBenchmark) -> str:
    """Return when and how it was measured, as a sentence."""
    rounds = len(of(found.points, LUA, Loop.OPEN))
    return (
        f"Measured {found.day}, the mean of {counted(rounds, 'round')}, {RATE_PER_S} requests a second, "
        f"on {found.cores} shared by servers and clients; "
        f"the load average was {found.load_average:g} before."
    )


def finding(runs: Sequence[TimedRun]) -> str:
    """Return the title of the picture."""
    seen, real = (quantiles(runs, LUA, view, "p95").value for view in (CLOSED, OPEN))
    pairs = zip(ends(runs, LUA, OPEN), ends(runs, LUA, CLOSED), strict=True)
    many, *_ = mean_of_ratios([one / other for one, other in pairs])
    report = f"The closed loop reports a p95 of {thousands(seen)} ms"
    return f"{report}; the open loop waits {thousands(real)} ms, {many:.0f} times as long"


def draw_one(found: OmissionBenchmark, folder: Path, name: str) -> Path:
    """Draw the picture on one paper: its file's name ends with ``name``. Return its path."""
    paper = PAPERS[name]
    settings = {"text.color": paper.text, "axes.labelcolor": paper.text, "axes.facecolor": paper.page, "grid.color": paper.line}
    settings |= {"xtick.color": paper.soft, "ytick.color": paper.soft, "axes.edgecolor": paper.soft}
    settings |= {"savefig.facecolor": paper.page, **FONTS}
    return write_chart(lambda: picture(found.points, paper), folder / f"{STEM}{name}.svg", settings=settings)


def picture(runs: Sequence[TimedRun], paper: Paper) -> Figure:
    """Return the picture: each request of one round as a dot, and the waits of all rounds by their share."""
    colours = COLOURS[paper.page]
    rounds = len(of(runs, LUA, Loop.OPEN))
    about = (
        f"lua under frozen_holder, {RATE_PER_S} requests a second are due, {REQUESTS} in a run; "
        f"{rounds} rounds; closed loop: {USERS} users that wait for answers"
    )
    figure = headed(finding(runs), about, HEIGHT_IN, colour=paper.soft)
    dots, shares = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _dots(dots, runs, colours, paper)
    _shares(shares, runs, colours, paper)
    return figure


def _dots(axes: Axes, runs: Sequence[TimedRun], colours: Sequence[str], paper: Paper) -> None:
    """Draw the first round: when each request began to wait, by this view, and how long it waited."""
    for view, colour, marker in zip((OPEN, CLOSED), colours, "ox", strict=True):
        run = of(runs, LUA, view.loop)[0]
        began, ended = run.frozen_ms[:2]
        starts = run.due_ms if view is OPEN else run.sent_ms
        shown = [
            (start - began, wait)
            for start, wait in zip(starts, view.waits_ms(run), strict=True)
            if -BEFORE_MS <= start - began <= AFTER_MS
        ]
        slow = longer_than(view.waits_ms(run), SLOW_MS)
        label = f"{view.words}: {slow} over {SLOW_MS} ms"
        axes.plot(*zip(*shown, strict=True), marker, color=colour, markersize=6, markeredgewidth=1.8, label=label)
        if view is OPEN:
            axes.axvspan(0, ended - began, color=paper.soft, alpha=0.16, linewidth=0)
    axes.set_xlim(-BEFORE_MS, AFTER_MS)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ms since the holder was frozen (grey: frozen)")
    axes.set_ylabel("wait for the answer, ms")
    axes.set_title("Round 1: each request a dot", fontsize=11, fontweight="normal", pad=8)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=10, handletextpad=0.3, labelcolor=paper.text)


def _shares(axes: Axes, runs: Sequence[TimedRun], colours: Sequence[str], paper: Paper) -> None:
    """Draw the quantiles of both views, with intervals; and the same where nothing is frozen."""
    places = list(range(len(QUANTILES)))
    for situation, line in ((LUA, "-"), (UNFROZEN, ":")):
        for view, colour, marker in zip((OPEN, CLOSED), colours, "ox", strict=True):
            found = [quantiles(runs, situation, view, name) for name in QUANTILES]
            below, above = [one.value - one.low for one in found], [one.high - one.value for one in found]
            what = f"{view.loop} loop" + ("" if situation is LUA else ", nothing frozen")
            bars = (below, above) if situation is LUA else None
            values = [one.value for one in found]
            axes.errorbar(
                places, values, yerr=bars, color=colour, linestyle=line, marker=marker if bars else "", capsize=3, label=what
            )
    axes.set_xticks(places, list(QUANTILES))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("share of the requests")
    axes.set_title("All rounds: p95 is what 95% do not exceed", fontsize=11, fontweight="normal", pad=8)
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 2, "columnspacing": 1.2}
    axes.legend(**place, fontsize=10, handletextpad=0.4, labelcolor=paper.text)


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the kept pictures, light and dark: the path of each, and the function that draws it into a folder."""

    def draw(folder: Path, name: str) -> Path:
        return draw_one(load(KEPT), folder, name)

    return {KEPT / f"{STEM}{name}.svg": partial(draw, name=name) for name in PAPERS}


DOCUMENT_PARTS: dict[str, Callable[..., str]] = {"omission": lambda: markdown(load(KEPT))}
