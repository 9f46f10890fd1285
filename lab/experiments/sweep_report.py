"""A sweep's table, picture and page, made from ``sweep.json`` alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lab.evidence.run_folder import replace
from lab.experiments import sweeps
from lab.experiments.sweep import Curve, Spot, Sweep, SweepResult, curves_of, load_result, shown
from lab.language import Language, quoted
from lab.report.chart import headed
from lab.report.chart import write as write_chart
from lab.report.html import in_both, inline, named
from lab.report.statistics import Spread
from lab.story import say
from lab.story.say import ENGLISH
from lab.text import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(sweep: Sweep, result: SweepResult, into: Path) -> list[Path]:
    """Write a page in each language, ``sweep.md`` and the pictures. Return the paths, the English page first."""
    curves = curves_of(result)
    pictures = {
        language: draw(sweep, result, curves, named(into / f"{result.sweep}.svg", language), language) for language in Language
    }
    text = into / "sweep.md"
    replace(text, markdown(sweep, result, curves).encode())
    pages = in_both(
        "sweep.html",
        into / "index.html",
        lambda language: {
            "say": partial(say.text, "sweep_page", language=language),
            "title": quoted("sweep", sweep.title, language),
            "varied": quoted("sweep", sweep.varied, language),
            "heading": heading(sweep, result, curves, language) + say.words(language)["mark"]["end"],
            "result": result,
            "head": head(sweep, language),
            "rows": rows(sweep, curves, language),
            "picture": inline([pictures[language]])[0],
            "home": named(Path("index.html"), language).name,
        },
    )
    return [*pages, text, *pictures.values()]


def draw(sweep: Sweep, result: SweepResult, curves: Sequence[Curve], path: Path, language: Language = ENGLISH) -> Path:
    """Draw into a file, and return its path."""

    def drawn() -> Figure:
        from matplotlib.text import Text

        whole = headed(heading(sweep, result, curves, language), conditions(result, language), sweep.height_in)
        sweep.draw(whole, result, curves)
        for axes in whole.axes:
            for one in axes.findobj(Text):
                one.set_text(quoted("sweep", one.get_text(), language))
        return whole

    return write_chart(drawn, path)


def heading(sweep: Sweep, result: SweepResult, curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return the finding, with a remark if only a part of the points was measured."""
    finding: str = sweep.finding(curves, language)
    return finding + (say.text("sweep_page", "partly", language, what=result.partial) if result.partial else "")


def conditions(result: SweepResult, language: Language = ENGLISH) -> str:
    """Return how the points were measured, and the meaning of the bars."""
    one = result.scenario
    comma: str = say.words(language)["mark"]["comma"]
    known = (say.text("conditions", name, language, one[name], shown=one[name]) for name in ("requests", "users", "replicas"))
    is_sound = all(point.sound for point in result.points)
    return say.text(
        "sweep_page",
        "measured",
        language,
        conditions=comma.join([one["name"], *known]),
        repeats=say.text("sweep_page", "repeats" if result.repeats > 1 else "once", language, result.repeats),
        crosses="" if is_sound else say.text("sweep_page", "crosses", language),
    )


def write_again(folder: Path) -> list[Path]:
    """Draw a kept sweep into its folder. Return the paths, the page first. Raises BadInput."""
    result = load_result(folder)
    return write(sweeps.load(result.sweep), result, folder)


def markdown(sweep: Sweep, result: SweepResult, curves: Sequence[Curve]) -> str:
    """Return the finding, whether all of it was measured, a row for each stage and value, and the method."""
    partial = f"**Partial**, {result.partial}.\n\n" if result.partial else ""
    return f"{sweep.finding(curves)}.\n\n{partial}{table(head(sweep), rows(sweep, curves))}\n{say.text('sweep_page', 'method')}\n"


def head(sweep: Sweep, language: Language = ENGLISH) -> list[str]:
    """Return the table's headings."""
    stage, sound, left_out = (say.text("sweep_page", name, language) for name in ("stage", "sound", "not_averaged"))
    varied, *figures = (quoted("sweep", one, language) for one in (sweep.varied, *sweep.figures.values()))
    return [stage, varied, sound, *figures, left_out]


def rows(sweep: Sweep, curves: Sequence[Curve], language: Language = ENGLISH) -> list[list[str]]:
    """Return the table's rows, stage by stage."""
    return [_row(sweep, curve.stage, spot, language) for curve in curves for spot in curve.spots]


def _row(sweep: Sweep, stage: str, spot: Spot, language: Language) -> list[str]:
    figures = [_figure(name, spot.figures.get(name), language) for name in sweep.figures]
    left_out = "; ".join(f"{point.verdict}: {_one_line(point.reason)}" for point in spot.unsound)
    return [f"`{stage}`", f"{spot.value:g}", str(spot.sound), *figures, left_out]


def _figure(name: str, one: Spread | None, language: Language) -> str:
    if one is None:
        return "–"
    if one.low == one.high:
        return shown(name, one.value)
    return shown(name, one.value) + say.text(
        "sweep_page", "between", language, low=shown(name, one.low), high=shown(name, one.high)
    )


def _one_line(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
