"""Where a mean lies with 95 % confidence, given a few repeats.

Spread over repeats: Student's t (Student, "The Probable Error of a Mean", Biometrika 6, 1908), of logarithms where
neighbours are compared by their ratio, so that the mean is the geometric one. Shares of increments that are the same in
every repeat have no spread to go by: Wilson's score interval of all increments together (E. B. Wilson, "Probable Inference,
the Law of Succession, and Statistical Inference", Journal of the American Statistical Association 22, 1927), which takes
each increment for independent of the others and is therefore the narrowest that can be defended.

scipy has the quantiles; it is imported by those who need it, for only the development set-up installs it.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence

import msgspec

from lab.errors import MissingPackage

CONFIDENCE = 0.95


class Interval(msgspec.Struct, frozen=True):
    """A mean and the ends of its interval; low and high are None where one sample tells nothing of the spread."""

    value: float
    low: float | None = None
    high: float | None = None

    def overlaps(self, other: Interval) -> bool:
        """Whether the two have values in common; of an interval without ends nothing can be told apart."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return True
        return self.low <= other.high and other.low <= self.high


def need_scipy() -> None:
    """Raises MissingPackage."""
    if importlib.util.find_spec("scipy") is None:
        raise MissingPackage("scipy is not installed. Run 'make setup-dev', or 'pip install -r requirements-dev.txt'.")


def mean(samples: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and the ends of its interval. Samples that do not differ at all have an interval of no width."""
    from scipy import stats

    value = math.fsum(samples) / len(samples)
    if min(samples) == max(samples):
        return value, value, value
    low, high = stats.t.interval(CONFIDENCE, len(samples) - 1, loc=value, scale=stats.sem(samples))
    return value, float(low), float(high)


def mean_of_ratios(ratios: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of paired ratios, and the ends of its interval."""
    value, low, high = mean([math.log(ratio) for ratio in ratios])
    return math.exp(value), math.exp(low), math.exp(high)


def of_amounts(samples: Sequence[float]) -> Interval:
    """Of amounts of one size, at least one: the geometric mean, or the plain one where an amount is nought."""
    if min(samples) == max(samples):  # one, or such as differ by less than was written down
        return Interval(samples[0])
    value, low, high = mean_of_ratios(samples) if min(samples) > 0 else mean(samples)
    return Interval(value, max(0.0, low), high)


def of_shares(parts: Sequence[int], wholes: Sequence[int]) -> Interval:
    """Of shares (parts[i] of wholes[i], a repeat each, at least one): the mean of the repeats, within 0 and 1."""
    from scipy import stats

    shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
    if min(shares) == max(shares):
        pooled = stats.binomtest(sum(parts), sum(wholes)).proportion_ci(CONFIDENCE, method="wilson")
        return Interval(shares[0], float(pooled.low), float(pooled.high))
    value, low, high = mean(shares)
    return Interval(value, max(0.0, low), min(1.0, high))
