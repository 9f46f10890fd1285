"""The time and the memory of lab explore."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import gettempdir

from lab.errors import ExitStatus, NothingShown
from lab.experiments.benchmark import Measured, RatioLimit
from lab.experiments.growth import run
from lab.report.statistics import mean

ANSWERS, ANSWERS_WITHIN_S = "uuid", 2.0
HEAVIEST, MOST_MIB = "pubsub", 300.0  # the stage whose searches have most states


def measure(pairs: int) -> Iterator[Measured]:
    """Measure the seconds of a decision, and its memory."""
    samples = [_explored(ANSWERS)[0] for _ in range(pairs)]
    value, low, high, _ = mean(samples)
    what, promise = f"processor time of `lab explore {ANSWERS}`, {pairs} times", RatioLimit(at_most=ANSWERS_WITHIN_S)
    yield Measured(
        name="explorer seconds", what=what, unit="s", value=value, low=low, high=high, promise=promise, samples=samples
    )
    _, most = _explored(HEAVIEST)
    what, promise = f"memory of `lab explore {HEAVIEST}` at its highest", RatioLimit(at_most=MOST_MIB)
    yield Measured(name="explorer memory", what=what, unit="MiB", value=most, promise=promise, samples=[most])


def _explored(stage: str) -> tuple[float, float]:
    """Return the seconds of processor time of ``lab explore``, and its memory in MiB at its highest. Raises NothingShown."""
    done = run(["explore", stage, "--json", "--budget", "600"], gettempdir())
    if done.status not in (ExitStatus.GOOD, ExitStatus.BROKEN):
        raise NothingShown(f"lab explore {stage} ended with {done.status}: {done.err[-200:]}")
    return done.own_cpu_s, done.most_mib
