"""The interval in which a mean, or a rate, lies with 95 % confidence, given a few repeats.

Spread over repeats: Student's t (Student, "The Probable Error of a Mean", Biometrika 6, 1908).
Ratios are averaged by their logarithms, so their mean is the geometric mean. A rate has Wilson's score
interval (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
of the American Statistical Association 22, 1927). It has ends of its own where all repeats agree: five
of five may still be a rate of 57 %. For shares that are the same in every repeat, it is that of all
increments together. It assumes that increments are independent of each other, so it is the narrowest
interval that can be justified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import msgspec

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
HALVINGS = 60  # of a right angle: then it is as exact as a number can be


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


@cache
def students_t(freedom: int) -> float:
    """Return the quantile of Student's distribution with so many degrees of freedom, by halving the angle that it is of."""
    low, high = 0.0, math.pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability(middle, freedom) < CONFIDENCE else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _probability(angle: float, freedom: int) -> float:
    """Return the probability between both ends (M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 4)."""
    odd = freedom % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for number in range(2 + odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (number - 1) / number
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


class Spread(NamedTuple):
    """A mean, and the interval in which it lies with 95 % confidence; of equal samples, the interval has no width."""

    value: float
    low: float
    high: float
    # how many samples it is of
    samples: int


def mean(samples: Sequence[float]) -> Spread:
    """Return the mean of at least one sample, with Student's interval."""
    number, value = len(samples), math.fsum(samples) / len(samples)
    if min(samples) == max(samples):
        return Spread(value, value, value, number)
    deviation = math.sqrt(math.fsum((one - value) ** 2 for one in samples) / (number - 1))
    width = students_t(number - 1) * deviation / math.sqrt(number)
    return Spread(value, value - width, value + width, number)


def mean_of_ratios(ratios: Sequence[float]) -> Spread:
    """Return the geometric mean of ratios above zero, with its interval."""
    value, low, high, number = mean([math.log(ratio) for ratio in ratios])
    return Spread(math.exp(value), math.exp(low), math.exp(high), number)


def wilson(seen: int, rounds: int) -> tuple[float, float]:
    """Return the ends of the interval of a rate, of which ``seen`` of at least one round were seen."""
    share, spread = seen / rounds, Z * Z / rounds
    middle = share + spread / 2
    width = Z * math.sqrt(share * (1 - share) / rounds + spread / (4 * rounds))
    low, high = (middle - width) / (1 + spread), (middle + width) / (1 + spread)
    return (0.0 if seen == 0 else low), (1.0 if seen == rounds else high)


def of_amounts(samples: Sequence[float]) -> Interval:
    """Return the interval of at least one amount: with the geometric mean, or the arithmetic one
    where an amount is zero.
    """
    if min(samples) == max(samples):  # a single sample, or samples that are equal as rounded
        return Interval(samples[0])
    value, low, high, _ = mean_of_ratios(samples) if min(samples) > 0 else mean(samples)
    return Interval(value, max(0.0, low), high)


def of_shares(parts: Sequence[int], wholes: Sequence[int]) -> Interval:
    """Return the interval of the mean of at least one share (parts[i] of wholes[i]), within 0 and 1."""
    shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
    if min(shares) == max(shares):
        return Interval(shares[0], *wilson(sum(parts), sum(wholes)))
    value, low, high, _ = mean(shares)
    return Interval(value, max(0.0, low), min(1.0, high))
