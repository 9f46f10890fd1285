"""The mean of a few repeats, with the least and the most of them.

Repeats are three to five. Their least and their most can be read in the runs themselves, and no distribution is assumed. Amounts
and ratios are averaged by their logarithms: their mean is the geometric one.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    """A mean of samples, the least and the most of them, and how many they are."""

    value: float
    low: float
    high: float
    samples: int


def mean(samples: Sequence[float]) -> Spread:
    """Return the arithmetic mean of at least one sample."""
    return Spread(statistics.fmean(samples), min(samples), max(samples), len(samples))


def geometric_mean(samples: Sequence[float]) -> Spread:
    """Return the geometric mean of at least one sample; the arithmetic one if a sample is not above zero, or all are equal."""
    found = mean(samples)
    return found._replace(value=statistics.geometric_mean(samples)) if 0 < found.low < found.high else found
