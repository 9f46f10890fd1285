"""The table and the picture of an experiment, made from its CSV file alone: ``NAME.csv``, ``NAME.md``, ``NAME.svg``.

Numbers are drawn on an axis, with a line for each stage; words as rows, with a dot for each value. Bars are intervals of 95%.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.evidence.run_folder import replace
from lab.experiments import experiment as shelf
from lab.experiments.experiment import Experiment
from lab.experiments.result import SHARES, Measurement, Spot, finding, load, markdown, measured, shown, spots
from lab.language import Language
from lab.report import chart
from lab.report.html import named
from lab.report.statistics import Spread
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, MARKERS = "#222222", "os^Dv"
PANEL_IN, DOT_IN = 3.0, 0.15  # of a panel with an axis, and of a dot in a row


def write(result: Measurement, into: Path) -> list[Path]:
    """Write the table, and the picture in each language. Return the paths, the table first."""
    experiment = shelf.load(result.about["experiment"])
    path = into / f"{experiment.name}.md"
    content = f"{finding(result, experiment)}.\n\n{markdown(result, experiment.en.varied)}\n{measured(result)}\n"
    replace(path, content.encode())
    return [path, *(draw(result, experiment, named(path.with_suffix(".svg"), one), one) for one in Language)]


def write_again(folder: Path) -> list[Path]:
    """Draw each result in a folder again whose experiment there is. Return the paths. Raises BadInput."""
    known = [one for one in sorted(folder.glob("*.csv")) if one.stem in shelf.names()]
    return [path for one in known for path in write(load(one), folder)]


def draw(result: Measurement, experiment: Experiment, path: Path, language: Language = ENGLISH) -> Path:
    """Draw into a file, and return its path."""
    found = spots(result)
    stages = list(dict.fromkeys(spot.stage for spot in found))

    def drawn() -> Figure:
        day = result.about["measured_utc"][:10]
        conditions = text("experiment", "conditions", language, 1, conditions=result.about["conditions"], day=day)
        panel_in = PANEL_IN if experiment.has_axis else 1.1 + DOT_IN * len(stages) * len(experiment.values)
        figure = chart.headed(finding(result, experiment, language), conditions, panel_in * len(experiment.panels))
        panels = figure.subplots(len(experiment.panels), 1, sharex=experiment.has_axis, squeeze=False)[:, 0]
        for axes, names in zip(panels, experiment.panels, strict=True):
            label = text("figure", names[0], language, against=experiment.against)
            for number, stage in enumerate(stages):
                here = [spot for spot in found if spot.stage == stage]
                (_line if experiment.has_axis else _row)(axes, number, here, names, shelf.texts(experiment.values), language)
            if experiment.has_axis:
                if experiment.expected and names is experiment.panels[0]:
                    expected = experiment.words(language).expected
                    axes.plot(experiment.values, experiment.expected, color=chart.GREY, linestyle="--", label=expected)
                is_drawn = any(names[0] in spot.figures for spot in found)  # an empty panel has no logarithmic scale
                axes.set_yscale("log") if names[0] in experiment.log and is_drawn else axes.set_ylim(bottom=0)
                axes.set_ylabel(label if len(names) == 1 else "")
            else:
                axes.set_xscale("log") if names[0] in experiment.log else axes.set_xlim(0, axes.get_xlim()[1] * 1.1)
                axes.set_yticks(range(len(stages)), stages)
                axes.set_ylim(len(stages) - 0.4, -0.6)
                axes.set_xlabel(label)
            _finish(axes, axes.yaxis if experiment.has_axis else axes.xaxis, names[0])
        if experiment.has_axis:
            if "x" in experiment.log:
                panels[-1].set_xscale("log")
                for axes in panels:
                    axes.minorticks_off()
            panels[-1].set_xticks([float(one) for one in experiment.values], shelf.texts(experiment.values))
            panels[-1].set_xlabel(experiment.words(language).varied)
        return figure

    return chart.write(drawn, path)


def _finish(axes: Axes, axis: Any, figure: str) -> None:
    """Write the numbers of the measured axis, and each name of the legend once."""
    axes.minorticks_off()
    axis.set_major_formatter(
        lambda value, _: shown(figure, value) if figure in SHARES else f"{value:,.10g}".replace(",", "\u2009")
    )
    named = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    axes.legend(named.values(), named.keys(), loc="center left", bbox_to_anchor=(1.0, 0.5))


def _line(axes: Axes, number: int, found: Sequence[Spot], figures: Sequence[str], _: Sequence[str], language: Language) -> None:
    """Draw figures of a stage over the values, and crosses for points that are not averaged."""
    look: dict[str, Any] = {
        "color": chart.LINES[number % len(chart.LINES)],
        "marker": MARKERS[number % len(MARKERS)],
        "capsize": 3,
    }
    for style, figure in zip(chart.STYLES, figures, strict=False):
        known = {float(spot.value): spot.figures[figure] for spot in found if figure in spot.figures}
        name = f"{found[0].stage}, {text('figure', figure, language)}" if len(figures) > 1 else found[0].stage
        means = [one.value for one in known.values()]
        axes.errorbar(list(known), means, yerr=_bars([*known.values()]), linestyle=style, label=name, **look)
    for point in (point for spot in found for point in spot.unsound):
        place = float(point.value), point.figures.get(figures[0], 0.0)
        axes.plot(*place, marker="x", markersize=9, markeredgewidth=2, color=BLACK, clip_on=False, zorder=5)
        axes.annotate(point.verdict, place, xytext=(6, 5), textcoords="offset points", fontsize=9, color=BLACK)


def _row(axes: Axes, number: int, found: Sequence[Spot], figures: Sequence[str], values: Sequence[str], _: Language) -> None:
    """Draw a figure of a stage as a row: a dot for each value."""
    for spot in found:
        place = values.index(spot.value)
        if one := spot.figures.get(figures[0]):
            row = number + 0.6 * ((place + 0.5) / len(values) - 0.5)
            look: dict[str, Any] = {"color": chart.LINES[place % len(chart.LINES)], "marker": MARKERS[place % len(MARKERS)]}
            axes.errorbar([one.value], [row], xerr=_bars([one]), linestyle="none", label=spot.value, **look)
            words = {"xytext": (7, 0), "textcoords": "offset points", "va": "center", "fontsize": 9}
            axes.annotate(shown(figures[0], one.value), (max(one.value, one.high), row), **words)  # type: ignore[arg-type] # by name


def _bars(spreads: Sequence[Spread]) -> list[list[float]]:
    return [[max(0.0, one.value - one.low) for one in spreads], [max(0.0, one.high - one.value) for one in spreads]]
