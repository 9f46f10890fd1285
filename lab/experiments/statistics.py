"""The interval in which a mean lies with 95 % confidence, given a few repeats.

Spread over repeats: Student's t (Student, "The Probable Error of a Mean", Biometrika 6, 1908).
Ratios are averaged by their logarithms, so their mean is the geometric mean. Shares that are the
same in every repeat show no spread. Their interval is Wilson's score interval of all increments
together (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
Journal of the American Statistical Association 22, 1927). It assumes that increments are
independent of each other, so it is the narrowest interval that can be justified.

scipy computes the quantiles. It is imported where it is needed, because only the development set-up
installs it.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence

import msgspec

from lab.errors import MissingPackage

CONFIDENCE = 0.95


class Interval(msgspec.Struct, frozen=True):
    """A mean and the ends of its interval. low and high are None for a single sample, which shows no spread."""

    value: float
    low: float | None = None
    high: float | None = None

    def overlaps(self, other: Interval) -> bool:
        """Return whether the two intervals have common values; an interval without ends overlaps every other."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return True
        return self.low <= other.high and other.low <= self.high


def need_scipy() -> None:
    """Raise MissingPackage if scipy is not installed."""
    if importlib.util.find_spec("scipy") is None:
        raise MissingPackage("scipy is not installed. Run 'make setup-dev', or 'pip install -r requirements-dev.txt'.")


def mean(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean, and the ends of its interval. The interval of equal samples has no width."""
    from scipy import stats

    value = math.fsum(samples) / len(samples)
    if min(samples) == max(samples):
        return value, value, value
    low, high = stats.t.interval(CONFIDENCE, len(samples) - 1, loc=value, scale=stats.sem(samples))
    return value, float(low), float(high)


def mean_of_ratios(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of paired ratios, and the ends of its interval."""
    value, low, high = mean([math.log(ratio) for ratio in ratios])
    return math.exp(value), math.exp(low), math.exp(high)


def of_amounts(samples: Sequence[float]) -> Interval:
    """Return the interval of at least one amount: with the geometric mean, or the arithmetic one
    where an amount is zero.
    """
    if min(samples) == max(samples):  # a single sample, or samples that are equal as rounded
        return Interval(samples[0])
    value, low, high = mean_of_ratios(samples) if min(samples) > 0 else mean(samples)
    return Interval(value, max(0.0, low), high)


def of_shares(parts: Sequence[int], wholes: Sequence[int]) -> Interval:
    """Return the interval of the mean of at least one share (parts[i] of wholes[i]), within 0 and 1."""
    from scipy import stats

    shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
    if min(shares) == max(shares):
        pooled = stats.binomtest(sum(parts), sum(wholes)).proportion_ci(CONFIDENCE, method="wilson")
        return Interval(shares[0], float(pooled.low), float(pooled.high))
    value, low, high = mean(shares)
    return Interval(value, max(0.0, low), min(1.0, high))
