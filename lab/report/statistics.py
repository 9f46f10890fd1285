"""The interval in which a mean, or a rate, lies with 95% confidence, given a few repeats.

Spread over repeats: Student's t (Student, "The Probable Error of a Mean", Biometrika 6, 1908).
Ratios are averaged by their logarithms, so their mean is the geometric mean. A rate has Wilson's score
interval (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
of the American Statistical Association 22, 1927). It has ends of its own where all repeats agree: five
of five may still be a rate of 57%. For shares that are the same in every repeat, it is that of all
increments together. It assumes that increments are independent of each other, so it is the narrowest
interval that can be justified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
HALVINGS = 60  # of a right angle: then it is as exact as a number can be


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
    """A mean, and the interval in which it lies with 95% confidence; of equal samples, the interval has no width."""

    value: float
    low: float
    high: float
    # how many samples it is of
    samples: int

    def overlaps(self, other: Spread) -> bool:
        """Return whether the two intervals have common values; one without a width shows no spread, and overlaps every other."""
        has_no_width = self.low == self.high or other.low == other.high
        return has_no_width or (self.low <= other.high and other.low <= self.high)


def mean(samples: Sequence[float]) -> Spread:
    """Return the mean of at least one sample, with Student's interval."""
    number, value = len(samples), math.fsum(samples) / len(samples)
    if min(samples) == max(samples):
        return Spread(samples[0], samples[0], samples[0], number)
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


def of_amounts(samples: Sequence[float]) -> Spread:
    """Return the mean of at least one amount: the geometric one, or the arithmetic one where an amount is 0 or all are equal."""
    found = mean_of_ratios(samples) if 0 < min(samples) < max(samples) else mean(samples)
    return found._replace(low=max(0.0, found.low))


def of_shares(parts: Sequence[int], wholes: Sequence[int]) -> Spread:
    """Return the mean of at least one share (parts[i] of wholes[i]), with an interval within 0 and 1."""
    shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
    if min(shares) == max(shares):
        return Spread(shares[0], *wilson(sum(parts), sum(wholes)), len(shares))
    found = mean(shares)
    return found._replace(low=max(0.0, found.low), high=min(1.0, found.high))
