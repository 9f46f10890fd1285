"""The result of an experiment: a CSV file with a row for each point, below lines that say how it was measured.

The lines above begin with ``#`` and a name: title, commit, machine, date, command …
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.errors import BadInput
from lab.evidence.run_folder import replace
from lab.experiments.experiment import Experiment
from lab.language import Language
from lab.paths import REFERENCE
from lab.report.statistics import Spread, geometric_mean, mean
from lab.run import environment
from lab.story.say import ENGLISH, text, words
from lab.text import table, thousands

KEPT = REFERENCE / "experiments"
RATIO = "ratio"
SHARES = ("lost_share",)  # the figures that are shares of a whole
CONDITIONS = {Language.ENGLISH: "conditions", Language.CHINESE: "conditions_zh"}  # lines on conditions that did not vary
COLUMNS = ("stage", "value", "repeat", "pair", "verdict", "reason", "run")  # the first columns; the figures follow


class Point(msgspec.Struct, kw_only=True):
    """The figures of one stage at one value, measured once; the experiment varies the value."""

    stage: str
    value: str
    repeat: int
    # the points with the same number were measured side by side; 0 without a pair
    pair: int = 0
    # of a run
    verdict: str = ""
    reason: str = ""
    run: str = ""
    figures: dict[str, float] = {}

    @property
    def sound(self) -> bool:
        """Return whether the point may be averaged. A run that proves nothing or breaks a promise is only shown."""
        return self.verdict not in ("VOID", "BROKEN") and bool(self.figures)


class Measurement(msgspec.Struct, kw_only=True):
    """The contents of a CSV file."""

    # the lines above the table, by name
    about: dict[str, str]
    points: list[Point] = []

    @property
    def partial(self) -> str:
        """Return why the result is partial; empty if all was measured."""
        ended = self.about["ended"]
        return "" if ended == "complete" else f"{ended}: {len(self.points)} of {self.about['planned']} points"


class Spot(NamedTuple):
    """A stage at a value, over its repeats."""

    stage: str
    value: str
    # the mean of each figure over the sound points, with the least and the most
    figures: dict[str, Spread]
    # the points that are not averaged
    unsound: list[Point]


def new_measurement(experiment: Experiment, **about: object) -> Measurement:
    """Return the empty result of an experiment that begins now, on this machine. about: more lines above the table."""
    machine, versions = environment.machine(), environment.versions()
    origin: dict[str, object] = {
        "experiment": experiment.name,
        "title": experiment.en.title,
        "varied": experiment.en.varied,
        "against": experiment.against,
        "measured_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": environment.commit(),
        "load_average": f"{os.getloadavg()[0]:.1f}",
        "machine": f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB, {machine['system']}",
        "versions": "; ".join(f"{name} {version}" for name, version in versions.items() if version),
    }
    return Measurement(about={name: str(line) for name, line in (origin | about).items()})


def save(result: Measurement, path: Path) -> None:
    """Write the file, whole or not at all."""
    out = io.StringIO()
    out.writelines(f"# {name}: {' '.join(line.split())}\n" for name, line in result.about.items())
    figures = list(dict.fromkeys(name for point in result.points for name in point.figures))
    writer = csv.DictWriter(out, [*COLUMNS, *figures], lineterminator="\n")
    writer.writeheader()
    for point in result.points:
        cells = {name: f"{figure:.6g}" for name, figure in point.figures.items()}
        writer.writerow({name: getattr(point, name) for name in COLUMNS} | cells)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, out.getvalue().encode())


def load(path: Path) -> Measurement:
    """Return the result in a file. Raises BadInput if it is not one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        about = {name: line for name, _, line in (one[2:].partition(": ") for one in lines if one.startswith("# "))}
        rows = list(csv.DictReader(one for one in lines if not one.startswith("# ")))
        return Measurement(about=about, points=[_point(row) for row in rows])
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{path} is not the result of an experiment: {error}") from None


def _point(row: dict[str, str]) -> Point:
    about: dict[str, Any] = {name: row.pop(name) for name in COLUMNS}
    about |= {name: int(about[name]) for name in ("repeat", "pair")}
    return Point(**about, figures={name: float(cell) for name, cell in row.items() if cell})


def spots(result: Measurement) -> list[Spot]:
    """Return the averages, in the order of the stages and values in the lines above the table."""
    stages, values = (result.about[name].split(", ") for name in ("stages", "values"))
    groups: dict[tuple[str, str], list[Point]] = {cell: [] for cell in itertools.product(stages, values)}
    for point in result.points:
        groups.setdefault((point.stage, point.value), []).append(point)
    against = {one.pair: one for one in result.points if one.pair and one.stage == result.about["against"]}
    return [_spot(points, against) for points in groups.values() if points]


def _spot(points: Sequence[Point], against: dict[int, Point]) -> Spot:
    """Return the average of a cell. against: the point that others are compared with, by the number of the pair."""
    sound = [point for point in points if point.sound]
    names = dict.fromkeys(name for point in sound for name in point.figures)
    pairs = [(point, against[point.pair]) for point in sound if point.pair in against and against[point.pair] is not point]
    first = next(iter(names), "")
    ratios = [one.figures[first] / other.figures[first] for one, other in pairs if other.sound and other.figures[first]]
    figures = {RATIO: geometric_mean(ratios)} if ratios else {}
    for name in names:
        samples = [one.figures[name] for one in sound if name in one.figures]
        figures[name] = mean(samples) if name in SHARES else geometric_mean(samples)
    return Spot(points[0].stage, points[0].value, figures, [one for one in points if not one.sound])


def digits(figure: str, value: float) -> str:
    """Return a figure with three digits: a share in per cent, a ratio with two decimals."""
    if figure in SHARES:
        return f"{value:.1%}" if 0 < value < 0.0095 else f"{value:.0%}"
    if figure == RATIO or value == 0:
        return f"{value:.2f}" if value else "0"
    return thousands(value) if value >= 100 else f"{value:.{2 - math.floor(math.log10(value))}f}"


def numbers(found: Sequence[Spot], experiment: Experiment) -> dict[str, Any]:
    """Return the numbers of a finding: by figure, and by ``at`` for the cells, then by the name of a cell.

    A cell is named by its value (or its stage), and as ``first``, ``last``, ``least`` and ``most`` of the figure of the finding;
    ``zero`` is the last before that figure becomes more than 0. An unknown number is a dash.
    """
    cells = {spot.value if experiment.each == "stage" else spot.stage: spot for spot in found}
    names, sizes = [*cells], [spot.figures[experiment.of].value for spot in found]
    places = {name: name for name in names} | {"first": names[0], "last": names[-1]}
    places |= {"least": names[sizes.index(min(sizes))], "most": names[sizes.index(max(sizes))]}
    zeros = [name for name, (size, after) in zip(names, itertools.pairwise(sizes), strict=False) if size <= 0 < after]
    places |= dict.fromkeys(["zero"], zeros[0]) if zeros else {}
    known: dict[str, Any] = {name: defaultdict(lambda: "–") for name in ("at", RATIO, *experiment.figures)}
    known["at"] |= places
    for key, name in places.items():
        for figure, spread in cells[name].figures.items():
            known.setdefault(figure, {})[key] = digits(figure, spread.value)
    return known


def finding(result: Measurement, experiment: Experiment, language: Language = ENGLISH) -> str:
    """Return the finding: a sentence for each stage, or for each value."""
    groups: dict[str, list[Spot]] = {}
    for spot in spots(result):
        if experiment.of in spot.figures:
            groups.setdefault(getattr(spot, experiment.each), []).append(spot)
    said, given = [], experiment.words(language)
    for name, found in groups.items():
        nothing = given.finding_none and not any(one.figures[experiment.of].value for one in found)
        form = given.finding_none if nothing else given.finding
        said.append(form.format(**{experiment.each: name}, **numbers(found, experiment)))
    whole: str = words(language)["mark"]["part"].join(said) or text("experiment", "nothing", language)
    return whole + (text("experiment", "partly", language, what=result.partial) if result.partial else "")


def markdown(result: Measurement, varied: str) -> str:
    """Return the table: a row for each stage and value, with the mean of each figure, its least and its most.

    varied: the name of the values.
    """
    found = spots(result)
    names = list(dict.fromkeys(name for spot in found for name in spot.figures))
    labels = [text("figure", name, against=result.about["against"]) for name in names]
    unsound = any(spot.unsound for spot in found)
    head = ["stage", varied, *labels, *(["not averaged"] * unsound)]
    rows = []
    for spot in found:
        reasons = "; ".join(f"{one.verdict}: {one.reason}" for one in spot.unsound).replace("|", "/")
        cells = [_cell(name, spot.figures.get(name)) for name in names]
        rows.append([spot.stage, spot.value, *cells, *([" ".join(reasons.split())] * unsound)])
    return table(head, rows)


def _cell(name: str, one: Spread | None) -> str:
    if one is None:
        return "–"
    return digits(name, one.value) + (f" ({digits(name, one.low)} to {digits(name, one.high)})" if one.low < one.high else "")


def measured(result: Measurement) -> str:
    """Return the time, machine, commit and command of the measurement."""
    about = result.about
    load = f", at a load average of {about['load_average']}" if "load_average" in about else ""
    return (
        f"Measured {about['measured_utc'][:10]} on {about['machine']}, at commit {about['commit']}{load}. "
        "In brackets, if they differ: the least and the most of the repeats. Compare ratios: speeds hold for one machine."
    )
