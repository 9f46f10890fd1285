"""Compute the mean of a few repeats, with the smallest and the largest of them.

There are three to five repeats. The smallest and the largest are values of real runs, and no distribution is assumed. Amounts
and ratios are averaged by their logarithms: their mean is the geometric one.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    """The mean of some samples, the smallest and the largest of them, and their number."""

    value: float
    low: float
    high: float
    samples: int


def mean(samples: Sequence[float]) -> Spread:
    """Return the arithmetic mean of at least one sample."""
    return Spread(statistics.fmean(samples), min(samples), max(samples), len(samples))


def geometric_mean(samples: Sequence[float]) -> Spread:
    """Return the geometric mean of at least one sample; the arithmetic mean if a sample is not above zero, or all are equal."""
    arithmetic = mean(samples)
    return arithmetic._replace(value=statistics.geometric_mean(samples)) if 0 < arithmetic.low < arithmetic.high else arithmetic
