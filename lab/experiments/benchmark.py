"""The lab's own costs, each held against a promise: ``lab bench``.

``lab/experiments/benchmarks`` holds one measurement a file, as a function ``measure(pairs)``. What can be compared is measured
side by side in one run, in pairs whose order alternates: the speed of a machine drifts, the ratio of two neighbours does not.
Intervals are those of ``lab/experiments/statistics.py``, by Student's t; the mean of ratios is the geometric one.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.errors import ExitStatus, LabError, choose_from
from lab.evidence.run_folder import save
from lab.experiments.statistics import need_scipy
from lab.paths import REPORTS
from lab.prerequisites import program
from lab.run import environment

CONNECTIONS = 100
WRK_SCRIPT = """
wrk.method = "POST"
function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format('\\n{"requests": %d, "duration_us": %d, "failed": %d}\\n', summary.requests, summary.duration, failed))
end
"""


class Unmeasured(LabError):  # noqa: N818 - says what happened
    """What was to be measured did not do its work, so its time means nothing."""

    exit_status = ExitStatus.NOTHING_SHOWN


class Promise(msgspec.Struct, frozen=True):
    """``at_most`` or ``at_least``; the other is None."""

    at_most: float | None = None
    at_least: float | None = None

    def holds(self, value: float) -> bool:
        return (self.at_most is None or value <= self.at_most) and (self.at_least is None or value >= self.at_least)


class Measured(msgspec.Struct, kw_only=True):
    """One figure. low, high: its interval, None where it was measured once. samples: what it is the mean of."""

    name: str
    what: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    promise: Promise
    samples: list[float]
    remark: str = ""

    @property
    def held(self) -> bool:
        return self.promise.holds(self.value)


class Bench(Protocol):
    """A file of the shelf."""

    def measure(self, pairs: int) -> Iterator[Measured]:
        """Measure, over so many interleaved pairs. Raises MissingProgram, NotReady, Unmeasured."""


def pairwise(pairs: int, one: Callable[[], float], other: Callable[[], float]) -> Iterator[tuple[float, float]]:
    """Results of both, interleaved; who goes first alternates, so that neither always has the other's warmth."""
    for number in range(pairs):
        if number % 2:
            second = other()
            yield one(), second
        else:
            yield one(), other()


def wrk(address: str, folder: Path, seconds: int) -> float:
    """Increments a second that wrk gets out of an address, with one thread and CONNECTIONS connections.

    Raises MissingProgram, Unmeasured.
    """
    script = folder / "wrk.lua"
    script.write_text(WRK_SCRIPT, encoding="utf-8")
    words = f"--threads 1 --connections {CONNECTIONS} --duration {seconds}s --timeout 10s"
    command = [program("wrk"), *words.split(), "--script", str(script), f"http://{address}/increment"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 30)
    if done.returncode != 0:
        raise Unmeasured(f"wrk ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    told = msgspec.json.decode(done.stdout.rstrip().rpartition("\n")[2])
    if told["failed"] or not told["requests"]:
        raise Unmeasured(f"wrk had {told['requests']} answers, and {told['failed']} requests that failed")
    return float(told["requests"] / (told["duration_us"] / 1e6))


def measure(names: Sequence[str], pairs: int) -> int:
    """Measure and print. Return the exit status: GOOD if all promises hold, else BROKEN.

    Raises BadInput, MissingPackage and the benches' own.
    """
    from lab.experiments.benchmarks import benches

    shelf = benches()
    wanted = [choose_from("measurement", name, shelf) for name in dict.fromkeys(names)] or list(shelf)
    need_scipy()
    console = Console(highlight=False)
    results: list[Measured] = []
    for name in wanted:
        console.print(f"measuring {name} …", style="dim")
        results += shelf[name].measure(pairs)
    console.print(table(results))
    console.print(str(_write(results, pairs)), style="dim", soft_wrap=True)
    return ExitStatus.GOOD if all(result.held for result in results) else ExitStatus.BROKEN


def table(results: Sequence[Measured]) -> Table:
    """The figures, a line each."""
    shown = Table(box=None, pad_edge=False)
    for heading, justify in (
        ("name", "left"),
        ("measured", "right"),
        ("95 % interval", "right"),
        ("promise", "right"),
        ("held", "left"),
        ("what", "left"),
    ):
        shown.add_column(heading, justify=justify, no_wrap=heading != "what")  # type: ignore[arg-type] # left and right are two of its words
    for result in results:
        remark = f" ({result.remark})" if result.remark else ""
        cells = (
            result.name,
            figure_in_words(result),
            interval_in_words(result),
            promise_in_words(result),
            _held(result),
            result.what + remark,
        )
        shown.add_row(*map(escape, cells))
    return shown


def _amount(value: float, unit: str) -> str:
    digits = 0 if unit == "MiB" else 2 if unit == "s" else 3
    return f"{value:.{digits}f}{f' {unit}' if unit else ''}"


def figure_in_words(result: Measured) -> str:
    """The figure with its unit."""
    return _amount(result.value, result.unit)


def interval_in_words(result: Measured) -> str:
    """From where to where."""
    if result.low is None or result.high is None:
        return "once"
    return f"{_amount(result.low, '')} to {_amount(result.high, '')}"


def promise_in_words(result: Measured) -> str:
    """What was promised of it."""
    least = result.promise.at_least
    return f"at most {result.promise.at_most:g}" if least is None else f"at least {least:g}"


def _held(result: Measured) -> str:
    """Held or not goes by the mean; where the promise lies inside the interval, another run may say otherwise."""
    ends = [result.promise.holds(end) for end in (result.low, result.high) if end is not None]
    return ("yes" if result.held else "NO") + (", within the noise" if len(set(ends)) > 1 else "")


def _write(results: Sequence[Measured], pairs: int) -> Path:
    now = datetime.now(UTC)
    path = REPORTS / f"bench-{now:%Y%m%dT%H%M%SZ}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"schema": 1, "measured_utc": now.isoformat(timespec="seconds"), "pairs": pairs, "commit": environment.commit()}
    about |= {"versions": environment.versions(), "machine": environment.machine()}
    figures = [msgspec.to_builtins(result) | {"held": result.held} for result in results]
    save(path, about | {"figures": figures})
    return path
