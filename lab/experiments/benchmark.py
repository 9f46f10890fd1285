"""A benchmark: pairs that are compared within one run, their mean ratio, and the promise that it keeps. ``lab bench`` runs them.

``lab/experiments/benchmarks`` holds one benchmark in each file, as a function ``measure(pairs)``; the first line of the file is
its line in the help. Two things are measured in alternating order: the speed of a machine drifts, but the ratio of two neighbours
does not. Intervals are those of ``lab/report/statistics.py``, by Student's t; the mean of ratios is the geometric mean.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import msgspec
from rich.markup import escape

from app.settings import Settings
from app.shelf import plugins
from lab.errors import BadInput, ExitStatus, LabError, NothingShown, choose_from, worst
from lab.experiments import measurement
from lab.experiments.child_run import child_run
from lab.experiments.measurement import Measurement, made_now, new_place, record, save
from lab.judge.judgement import Judgement
from lab.paths import REFERENCE
from lab.report.statistics import mean_of_ratios
from lab.report.terminal import terminal, where_to_look
from lab.scenario import reader
from lab.servers import process
from lab.servers.process import Running, ServerProgram
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor
from lab.story.verdict import why
from lab.text import hanging, table

KEPT = REFERENCE / "locks"  # the benches that the documents quote
Sample = TypeVar("Sample")  # what one measurement returns


class RatioLimit(msgspec.Struct, frozen=True):
    """A limit: ``at_most`` or ``at_least``; the other is None."""

    at_most: float | None = None
    at_least: float | None = None

    def holds(self, value: float) -> bool:
        return (self.at_most is None or value <= self.at_most) and (self.at_least is None or value >= self.at_least)


class Measured(msgspec.Struct, kw_only=True):
    """One figure."""

    name: str
    what: str
    unit: str = ""
    value: float
    low: float | None = None  # the low end of its interval; None where it was measured once
    high: float | None = None  # the high end of its interval
    promise: RatioLimit
    samples: list[float]  # the samples of which the value is the mean
    remark: str = ""
    # what else was seen, by name, as codes
    seen: dict[str, str] = {}
    held: bool = False  # whether the value keeps the promise

    def __post_init__(self) -> None:
        self.held = self.promise.holds(self.value)


class BenchFile(Measurement[Measured], kw_only=True):
    """``bench-TIME.json``: the figures of one ``lab bench``."""

    # how many pairs were asked for
    pairs: int
    # why a benchmark has no figures, by its name
    unmeasured: dict[str, str] = msgspec.field(default_factory=dict)


class Bench(Protocol):
    """A file of ``benchmarks``."""

    def measure(self, pairs: int) -> Iterator[Measured]:
        """Measure over so many interleaved pairs. Raises MissingProgram, NotReady, NothingShown."""


def benches() -> dict[str, Bench]:
    """Return all benchmarks, by file name."""
    return {name: cast(Bench, file) for name, file in plugins.files("lab.experiments.benchmarks").items()}


def measure(names: Sequence[str], pairs: int) -> int:
    """Run ``lab bench``. Return the exit status: 0 if all promises hold, 1 if not.

    Raises BadInput and the errors of the benchmarks.
    """
    shelf = benches()
    wanted = [choose_from("measurement", name, shelf) for name in dict.fromkeys(names)] or list(shelf)
    console, unmeasured = terminal(), list[LabError]()
    found, path = made_now(BenchFile, pairs=pairs), new_place("bench").with_suffix(".json")

    def figures() -> Iterator[Measured]:
        for name in wanted:
            console.print(f"measuring {name} …", style="dim")
            try:
                yield from shelf[name].measure(pairs)
            except LabError as reason:
                unmeasured.append(reason)
                found.unmeasured[name] = str(reason)
                console.print(escape(hanging("", f"{name} was not measured: {reason}", 0)), style="yellow", soft_wrap=True)

    console.print(HEADING, style="bold")
    record(found, figures(), path, lambda result: console.print(escape(entry(result)), soft_wrap=True))
    if found.unmeasured:
        not_measured = f"Not measured: {', '.join(found.unmeasured)}. The reasons are above."
        console.print(escape(hanging("", not_measured, 0)), soft_wrap=True)
    if found.points:
        save(found, path)
        where_to_look(console, path)
    broken = [ExitStatus.BROKEN for result in found.points if not result.held]
    return worst([*broken, *(reason.exit_status for reason in unmeasured)])


def pairwise(pairs: int, one: Callable[[], Sample], other: Callable[[], Sample]) -> Iterator[tuple[Sample, Sample]]:
    """Yield the results of both, interleaved. The order alternates, so that neither always runs on a warm machine."""
    for number in range(pairs):
        if number % 2:
            second = other()
            yield one(), second
        else:
            yield one(), other()


def ratio(
    name: str,
    what: str,
    promise: RatioLimit,
    both: Iterable[tuple[Any, Any]],
    figure: Callable[[Any], float] = float,
    of: str = "",
    remark: str = "",
) -> Measured:
    """Return the mean ratio of pairs as a figure. figure: of a sample. of: what a pair consists of, in words."""
    ratios = [figure(one) / figure(other) for one, other in both]
    value, low, high, _ = mean_of_ratios(ratios)
    about = f"{what}, {len(ratios)} {of or 'pairs'}"
    return Measured(name=name, what=about, value=value, low=low, high=high, promise=promise, samples=ratios, remark=remark)


@contextlib.contextmanager
def started(*programs: ServerProgram, within: Path | None = None) -> Iterator[list[Running]]:
    """Start servers for the duration of the block. within: where their folder is made; without it, with all temporary files."""
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix=".lab-bench-", dir=within) as name, contextlib.closing(supervisor):
        folder = Path(name).resolve()
        yield [one.wait() for one in [process.start(one, supervisor, folder) for one in programs]]


@dataclass(frozen=True)
class RunningStore:
    """A store whose servers run: its settings for clients, and a function that counts the commands it has executed."""

    settings: Settings
    count: Callable[[], int]
    servers: list[Running]


@contextlib.contextmanager
def store_up(name: str) -> Iterator[RunningStore]:
    """Start the servers of a store for the duration of the block."""
    shelf = store_servers(name)
    with started(*shelf.programs(reader.load("rush"))) as servers:
        settings = Settings.read({}, run="bench", **{f"{name}_url": shelf.url(servers)})
        yield RunningStore(settings, lambda: sum(shelf.commands(servers).values()), servers)


def run(scenario: str, stage: str, requests: int, *more: str, acknowledged: bool = False) -> Judgement:
    """Make a run of the lab. acknowledged: whether each request must be. Raises NothingShown."""
    judgement = child_run([scenario, "--stage", stage, "--requests", str(requests), "--no-draw", *more])
    if acknowledged and judgement.acknowledged != requests:
        raise NothingShown(f"{scenario} on {stage} served {judgement.acknowledged} of {requests} requests: {why(judgement)}")
    return judgement


def _columns(*cells: str) -> str:
    name, measured, interval, promise, held = cells
    return f"{name:<24} {measured:>9}  {interval:>16}  {promise:<14}  {held}"


HEADING = _columns("name", "measured", "95% interval", "promise", "held")


def entry(result: Measured) -> str:
    """Return a figure as it is printed: one line of numbers, and below it what was measured."""
    notes = [note for note in (result.remark, "the promise lies within the noise" * within_noise(result)) if note]
    what = f"{result.what} ({'; '.join(notes)})" if notes else result.what
    _, *cells, held = in_words(result)
    return f"{_columns(result.name, *cells, held if result.held else held.upper())}\n{hanging('    ', what, 4)}"


def in_words(result: Measured) -> tuple[str, str, str, str, str]:
    """Return what was measured, the figure with its unit, the ends of its interval, the promise, and whether it held."""
    low, high, least = result.low, result.high, result.promise.at_least
    interval = "once" if low is None or high is None else f"{_amount(low, '')} to {_amount(high, '')}"
    promise = f"at most {result.promise.at_most:g}" if least is None else f"at least {least:g}"
    return result.what, _amount(result.value, result.unit), interval, promise, "yes" if result.held else "no"


def _amount(value: float, unit: str) -> str:
    digits = 0 if unit == "MiB" else 2 if unit == "s" else 3
    return f"{value:.{digits}f}{f' {unit}' if unit else ''}"


def within_noise(result: Measured) -> bool:
    """Return whether the promise lies inside the interval, so that another run may judge it differently."""
    ends = {result.promise.holds(end) for end in (result.low, result.high) if end is not None}
    return len(ends) > 1


@cache
def kept() -> dict[str, Measured]:
    """Return the figures of the reference's benches, by name."""
    found = [measurement.load(path, BenchFile) for path in sorted(KEPT.glob("bench-*.json"))]
    return {one.name: one for file in found for one in file.points}


def _table(*first_words: str) -> str:
    """Return a table of the kept figures whose names begin with one of the words."""
    rows = [in_words(one) for name, one in kept().items() if name.split()[0] in first_words]
    if not rows:
        raise BadInput(f"the reference has no measurement of {' or '.join(first_words)}")
    return table(["what", "measured", "95% interval", "target", "met"], rows)


def _ratio(*name: str) -> str:
    """Return one kept figure as a share."""
    return f"{kept()[choose_from('measurement', ' '.join(name), kept())].value:.2f}"


DOCUMENT_PARTS: dict[str, Callable[..., str]] = {"benches": _table, "ratio": _ratio}
