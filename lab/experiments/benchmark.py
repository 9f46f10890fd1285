"""A benchmark: what it measures, its promise, and how a figure is printed. ``benchmark_runner.py`` runs them.

``lab/experiments/benchmarks`` holds one measurement in each file, as a function ``measure(pairs)``.
Two things are compared in pairs within one run, in alternating order: the speed of a machine
drifts, but the ratio of two neighbours does not. Intervals are those of
``lab/report/statistics.py``, by Student's t; the mean of ratios is the geometric mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from lab.errors import ExitStatus, LabError
from lab.experiments.measurement import Measurement
from lab.report.statistics import mean_of_ratios
from lab.text import hanging

Sample = TypeVar("Sample")  # what one measurement returns


class Unmeasured(LabError):  # noqa: N818 - states what happened
    """The measured command failed, so its time means nothing."""

    exit_status = ExitStatus.NOTHING_SHOWN


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
    unit: str
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


class BenchFile(Measurement, kw_only=True):
    """``bench-TIME.json``: the figures of one ``lab bench``."""

    # how many pairs were asked for
    pairs: int
    figures: list[Measured]
    # why a benchmark has no figures, by its name
    unmeasured: dict[str, str]


class Bench(Protocol):
    """A file of ``benchmarks``."""

    def measure(self, pairs: int) -> Iterator[Measured]:
        """Measure over so many interleaved pairs. Raises MissingProgram, NotReady, Unmeasured."""


def pairwise(pairs: int, one: Callable[[], Sample], other: Callable[[], Sample]) -> Iterator[tuple[Sample, Sample]]:
    """Yield the results of both, interleaved. The order alternates, so that neither always runs on a warm machine."""
    for number in range(pairs):
        if number % 2:
            second = other()
            yield one(), second
        else:
            yield one(), other()


def ratio(name: str, what: str, promise: RatioLimit, ratios: Sequence[float], remark: str = "") -> Measured:
    """Return the mean of paired ratios as a figure."""
    value, low, high = mean_of_ratios(ratios)
    return Measured(
        name=name, what=what, unit="", value=value, low=low, high=high, promise=promise, samples=list(ratios), remark=remark
    )


def _columns(*cells: str) -> str:
    name, measured, interval, promise, held = cells
    return f"{name:<24} {measured:>9}  {interval:>16}  {promise:<14}  {held}"


HEADING = _columns("name", "measured", "95 % interval", "promise", "held")


def entry(result: Measured) -> str:
    """Return a figure as it is printed: one line of numbers, and below it what was measured."""
    held = "yes" if result.held else "NO"
    line = _columns(result.name, figure_in_words(result), interval_in_words(result), promise_in_words(result), held)
    notes = [note for note in (result.remark, "the promise lies within the noise" * within_noise(result)) if note]
    what = f"{result.what} ({'; '.join(notes)})" if notes else result.what
    return f"{line}\n{hanging('    ', what, 4)}"


def _amount(value: float, unit: str) -> str:
    digits = 0 if unit == "MiB" else 2 if unit == "s" else 3
    return f"{value:.{digits}f}{f' {unit}' if unit else ''}"


def figure_in_words(result: Measured) -> str:
    """Return the figure with its unit."""
    return _amount(result.value, result.unit)


def interval_in_words(result: Measured) -> str:
    """Return the interval's two ends."""
    if result.low is None or result.high is None:
        return "once"
    return f"{_amount(result.low, '')} to {_amount(result.high, '')}"


def promise_in_words(result: Measured) -> str:
    """Return the promise."""
    least = result.promise.at_least
    return f"at most {result.promise.at_most:g}" if least is None else f"at least {least:g}"


def within_noise(result: Measured) -> bool:
    """Return whether the promise lies inside the interval, so that another run may judge it differently."""
    ends = {result.promise.holds(end) for end in (result.low, result.high) if end is not None}
    return len(ends) > 1
