"""The table and the picture of an experiment, made from its CSV file alone: ``NAME.csv``, ``NAME.md``, ``NAME.svg``.

A panel is drawn for each figure, with a line for each stage over the values, in equal steps. Bars go from the least to the most.
If an experiment compares stages at each value (``each`` is ``value``), the stages stand below, with a mark for each value.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.evidence.run_folder import replace
from lab.experiments import experiment as shelf
from lab.experiments.experiment import Experiment
from lab.experiments.result import CONDITIONS, SHARES, Measurement, Spot, digits, finding, load, markdown, measured, spots
from lab.language import Language
from lab.report import chart
from lab.report.html import path_in
from lab.story.say import ENGLISH, text
from lab.text import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^Dv"
PANEL_IN, LABEL_WIDTH = 3.0, 26  # inches of a panel's height, and letters in a line of a label
DECADE = 10


def write(result: Measurement, into: Path) -> list[Path]:
    """Write the table, and the picture in each language. Return the paths, the table first."""
    experiment = shelf.load(result.about["experiment"])
    path = into / f"{experiment.name}.md"
    content = f"{finding(result, experiment)}.\n\n{markdown(result, experiment.en.varied)}\n{measured(result)}\n"
    replace(path, content.encode())
    return [path, *(draw(result, experiment, path_in(path.with_suffix(".svg"), one), one) for one in Language)]


def write_again(folder: Path) -> list[Path]:
    """Draw each result in a folder again whose experiment there is. Return the paths. Raises BadInput."""
    known = [one for one in sorted(folder.glob("*.csv")) if one.stem in shelf.names()]
    return [path for one in known for path in write(load(one), folder)]


def draw(result: Measurement, experiment: Experiment, path: Path, language: Language = ENGLISH) -> Path:
    """Draw into a file, and return its path."""
    found = spots(result)
    stages = list(dict.fromkeys(spot.stage for spot in found))
    values = [value for value in result.about["values"].split(", ") if value in {spot.value for spot in found}]
    by_value = experiment.each == "value"
    series, places = (values, stages) if by_value else (stages, values)

    def drawn() -> Figure:
        day = result.about["measured_utc"][:10]
        conditions = text("experiment", "conditions", language, 1, conditions=result.about[CONDITIONS[language]], day=day)
        title = experiment.words(language).title if by_value else finding(result, experiment, language)
        figure = chart.headed(title, conditions, PANEL_IN * (2 if by_value else len(experiment.panels)))
        panels = figure.subplots(len(experiment.panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, name in zip(panels, experiment.panels, strict=True):
            for number, one in enumerate(series):
                at = {
                    places.index(spot.stage if by_value else spot.value): spot
                    for spot in found
                    if one in (spot.stage, spot.value)
                }
                _line(axes, number, one, at, name, "none" if by_value else "-")
            means = [spot.figures[name].value for spot in found if name in spot.figures]
            is_wide = bool(means) and max(means) > DECADE * min(means)  # a logarithmic scale below a decade shows one number
            if name in experiment.log and is_wide:
                axes.set_yscale("log")
            else:
                axes.update_datalim([(0, 0)])
                axes.set_ylim(bottom=0)
            axes.set_ylabel("\n".join(wrapped(text("figure", name, language, against=experiment.against), LABEL_WIDTH)))
            axes.minorticks_off()
            axes.yaxis.set_major_formatter(
                lambda size, _, name=name: digits(name, size) if name in SHARES else f"{size:,.10g}".replace(",", "\u2009")
            )
        if len(series) > 1:  # the finding in the title names a single stage
            beside = {"loc": "lower left", "ncols": 2} if by_value else {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
            panels[0].legend(**beside)
        labels = ["\n".join(wrapped(place, LABEL_WIDTH)) for place in places]
        axes.set_xticks(range(len(places)), labels, rotation=60 if by_value else 0, ha="right" if by_value else "center")
        axes.set_xlabel("" if by_value else experiment.words(language).varied)
        return figure

    return chart.write(drawn, path)


def _line(axes: Axes, number: int, label: str, found: dict[int, Spot], figure: str, line: str) -> None:
    """Draw a figure of the spots of a stage or a value at their places, and crosses for points that are not averaged."""
    known = {place: spot.figures[figure] for place, spot in found.items() if figure in spot.figures}
    below = [max(0.0, one.value - one.low) for one in known.values()]
    above = [max(0.0, one.high - one.value) for one in known.values()]
    look: dict[str, Any] = {
        "linestyle": line,
        "color": chart.LINES[number % len(chart.LINES)],
        "marker": MARKERS[number % len(MARKERS)],
    }
    axes.errorbar([*known], [one.value for one in known.values()], yerr=[below, above], label=label, capsize=3, **look)
    for place, spot in found.items():
        for point in spot.unsound:
            axes.plot(place, point.figures.get(figure, 0.0), marker="x", markersize=9, color="black", clip_on=False, zorder=5)
