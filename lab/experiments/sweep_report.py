"""A sweep's table, picture and page, made from ``sweep.json`` alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.evidence.run_folder import replace
from lab.experiments import sweep_chart, sweep_result, sweeps
from lab.experiments.sweep import Sweep
from lab.experiments.sweep_result import SHARES, Curve, Spot, SweepResult
from lab.report.html import inline, page
from lab.report.statistics import Interval
from lab.text import table

METHOD = (
    "A figure is the mean of the sound repeats, with the interval in which the mean lies with 95 % confidence: by Student's t "
    "(Biometrika 6, 1908), for speeds, waits and commands of their logarithms; for shares that are the same in every repeat "
    "by Wilson's score (J. Am. Stat. Assoc. 22, 1927) over all increments or runs, as if each came out on its own. "
    "Each value was measured once, in shuffled order, before any was measured again."
)


def write(sweep: Sweep, result: SweepResult, into: Path) -> list[Path]:
    """Write ``index.html``, ``sweep.md``, ``<name>.svg`` and ``.png``. Return the paths, the page first."""
    curves = sweep_result.curves(result)
    pictures = sweep_chart.save(sweep, result, curves, into / result.sweep)
    text = into / "sweep.md"
    replace(text, markdown(sweep, result, curves).encode())
    values = {
        "heading": sweep_chart.heading(sweep, result, curves),
        "sweep": sweep,
        "result": result,
        "head": head(sweep),
        "rows": rows(sweep, curves),
        "picture": inline(pictures[:1])[0],
        "method": METHOD,
    }
    path = into / "index.html"
    replace(path, page("sweep.html", **values).encode())
    return [path, text, *pictures]


def write_again(folder: Path) -> list[Path]:
    """Draw a sweep again into its folder. Raises BadInput."""
    result = sweep_result.load(folder)
    return write(sweeps.load(result.sweep), result, folder)


def markdown(sweep: Sweep, result: SweepResult, curves: Sequence[Curve]) -> str:
    """Return the finding, whether all of it was measured, a row for each stage and value, and the method."""
    partial = f"**Partial**, {result.partial}.\n\n" if result.partial else ""
    return f"{sweep.finding(curves)}.\n\n{partial}{table(head(sweep), rows(sweep, curves))}\n{METHOD}\n"


def head(sweep: Sweep) -> list[str]:
    """Return the table's headings."""
    return ["stage", sweep.varied, "sound runs", *sweep.figures.values(), "not averaged"]


def rows(sweep: Sweep, curves: Sequence[Curve]) -> list[list[str]]:
    """Return the table's rows, stage by stage."""
    return [_row(sweep, curve.stage, spot) for curve in curves for spot in curve.spots]


def _row(sweep: Sweep, stage: str, spot: Spot) -> list[str]:
    figures = [_figure(name, spot.figures.get(name)) for name in sweep.figures]
    left_out = "; ".join(f"{point.verdict}: {_one_line(point.reason)}" for point in spot.unsound)
    return [f"`{stage}`", f"{spot.value:g}", str(spot.sound), *figures, left_out]


def _figure(name: str, one: Interval | None) -> str:
    if one is None:
        return "–"
    text = _percent if name in SHARES else _amount
    ends = "" if one.low is None or one.high is None else f" ({text(one.low)} to {text(one.high)})"
    return text(one.value) + ends


def _amount(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def _one_line(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
