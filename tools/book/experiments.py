"""The generated parts of experiments: what was kept of them as CSV in ``reports/reference/experiments``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from lab.errors import BadInput, choose_from
from lab.experiments import drawing, experiment
from lab.experiments.result import KEPT, Measurement, finding, load, markdown, measured, shown, spots
from lab.language import Language
from lab.report.html import named
from lab.story.say import ENGLISH, words


def kept(name: str) -> Measurement:
    """Return a kept result. Raises BadInput with the nearest name."""
    return load(KEPT / f"{choose_from('kept result', name, [path.stem for path in KEPT.glob('*.csv')])}.csv")


def _drawn(name: str, folder: Path) -> None:
    drawing.write(kept(name), folder)


def pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures of kept results whose experiments there are: the path of each, and what draws it into a folder."""
    return {
        named(KEPT / f"{name}.svg", language): partial(_drawn, name)
        for name in experiment.names()
        for language in Language
        if (KEPT / f"{name}.csv").exists()
    }


def _list(*, language: Language = ENGLISH) -> str:
    """Return a line for each experiment of which a result is kept: its question, its finding, its picture."""
    lines, mark = [], words(language)["mark"]
    for name in experiment.names():
        if (KEPT / f"{name}.csv").exists():
            one = experiment.load(name)
            picture = named(Path(f"../reports/reference/experiments/{name}.svg"), language)
            lines.append(
                f"- {one.words(language).title}{mark['gap']}[{finding(kept(name), one, language)}]({picture}){mark['end']}\n"
            )
    return "".join(lines)


def _picture(name: str, *, language: Language = ENGLISH) -> str:
    """Return the picture of a kept result, with its finding and the command that repeats it."""
    one, result = experiment.load(name), kept(name)
    picture = named(Path(f"../reports/reference/experiments/{name}.svg"), language)
    found = f"{finding(result, one, language)}{words(language)['mark']['end']}"
    command = f"```sh\n.venv/bin/lab experiment {name}\n```\n"
    return f"![{one.words(language).title}]({picture})\n\n*{found}*\n\n{command}\n{measured(result, language)}\n"


def _table(name: str, *figures: str, language: Language = ENGLISH) -> str:
    """Return a kept result as a table, with where and when it was measured. figures: the columns; all without any."""
    result = kept(name)
    varied = experiment.load(name).words(language).varied if name in experiment.names() else result.about["varied"]
    return f"{markdown(result, varied, figures, language)}\n{measured(result, language)}\n"


def _figure(name: str, stage: str, figure: str, *value: str) -> str:
    """Return one mean of a kept result, for prose. Raises BadInput."""
    for spot in spots(kept(name)):
        if (spot.stage, spot.value) == (stage, " ".join(value)) and figure in spot.figures:
            return shown(figure, spot.figures[figure].value)
    raise BadInput(f"the kept result {name} has no {figure} of {stage} at {' '.join(value)!r}")


PARTS: dict[str, Callable[..., str]] = {
    "experiments": _list,
    "experiment_picture": _picture,
    "experiment": _table,
    "measured": _figure,
}
