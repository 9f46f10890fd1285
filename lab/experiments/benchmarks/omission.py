"""The waits that a closed loop hides while a holder is frozen.

The same arrivals are sent by an open loop and by a closed loop.
The times of all requests go to ``reports/bench-omission-<time>/``, with a table and a picture.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from lab.experiments import omission_report
from lab.experiments.benchmark import Measured, RatioLimit, ratio
from lab.experiments.measurement import made_now, new_place, record
from lab.experiments.omission import (
    CLOSED,
    CORRECTED,
    LUA,
    OPEN,
    REQUESTS,
    ROUNDS,
    UNFROZEN,
    WATCHDOG,
    OmissionBenchmark,
    TimedRun,
    ends,
    rounds,
)

TWICE = RatioLimit(at_least=2.0)
AS_LONG = RatioLimit(at_least=0.8)  # counted since due, the closed loop hides nothing
# what is compared: of which situation, the two views, and the promise
COMPARED = (
    ("hidden", LUA, OPEN, CLOSED, TWICE),
    ("hidden", WATCHDOG, OPEN, CLOSED, TWICE),
    ("hidden", UNFROZEN, OPEN, CLOSED, RatioLimit(at_most=1.5)),
    ("known", LUA, CORRECTED, OPEN, AS_LONG),
    ("known", WATCHDOG, CORRECTED, OPEN, AS_LONG),
)


def measure(pairs: int) -> Iterator[Measured]:
    """Measure rounds of all situations, each by both loops."""
    found, into = made_now(OmissionBenchmark, load_average=round(os.getloadavg()[0], 2)), new_place("bench-omission")
    record(found, rounds(max(3, min(pairs, ROUNDS))), into / omission_report.FILE)
    omission_report.write(found, into)
    yield from figures(found.points)


def figures(runs: Sequence[TimedRun]) -> Iterator[Measured]:
    """Return the ratios of both views of each comparison."""
    for name, situation, one, other, promise in COMPARED:
        what = f"p95 of the waits of {situation.name}: {one.words}, against {other.words}"
        both = zip(ends(runs, situation, one), ends(runs, situation, other), strict=True)
        yield ratio(f"omission {situation.name} {name}", what, promise, both, of=f"pairs of {REQUESTS} requests")
