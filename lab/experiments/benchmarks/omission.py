"""What a closed loop hides of a freeze: the same arrivals by an open loop and by a closed loop, in turn.

The times of all requests go to ``reports/bench-omission-<time>/``, with a table and a picture.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from lab.experiments import omission, omission_report
from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured, ratio
from lab.experiments.child_run import NoVerdict
from lab.experiments.omission import LUA, SITUATIONS, UNFROZEN, WATCHDOG, Loop, Situation, TimedRun, quantile
from lab.paths import REPORTS

ROUNDS = 5
P95 = 0.95
Pair = tuple[TimedRun, TimedRun]
Waits = Callable[[TimedRun], list[float]]


def since_due(run: TimedRun) -> list[float]:
    return run.since_due_ms


def since_sent(run: TimedRun) -> list[float]:
    return run.since_sent_ms


def measure(pairs: int) -> Iterator[Measured]:
    """Measure rounds of all situations, each by both loops."""
    load = os.getloadavg()[0]
    pairs_of: dict[Situation, list[Pair]] = {situation: [] for situation in SITUATIONS}
    for number in range(1, max(3, min(pairs, ROUNDS)) + 1):
        for situation in SITUATIONS:
            pairs_of[situation].append(_both(situation, number))
    found = [run for several in pairs_of.values() for pair in several for run in pair]
    omission_report.write(found, load, REPORTS / f"bench-omission-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    yield from figures(pairs_of)


def figures(pairs_of: dict[Situation, list[Pair]]) -> Iterator[Measured]:
    """Return the ratios of pairs (open loop, closed loop). Counted since due, the closed loop hides nothing."""
    for situation, promise in (
        (LUA, RatioLimit(at_least=2.0)),
        (WATCHDOG, RatioLimit(at_least=2.0)),
        (UNFROZEN, RatioLimit(at_most=1.5)),
    ):
        what = f"p95 of the waits of {situation.name}: open loop, since due, against closed loop, since sent"
        yield _ratio(situation, "hidden", what, pairs_of[situation], (since_due, since_sent), promise)
    for situation in (LUA, WATCHDOG):
        what = f"p95 of the waits of {situation.name}: the same closed loop, since due, against the open loop, since due"
        turned = [(closed, opened) for opened, closed in pairs_of[situation]]
        yield _ratio(situation, "known", what, turned, (since_due, since_due), RatioLimit(at_least=0.8))


def _ratio(
    situation: Situation, name: str, what: str, both: Sequence[Pair], waits: tuple[Waits, Waits], promise: RatioLimit
) -> Measured:
    of_one, of_other = waits
    ratios = [quantile(of_one(one), P95) / quantile(of_other(other), P95) for one, other in both]
    about = f"{what}, {len(ratios)} pairs of {omission.REQUESTS} requests"
    return ratio(f"omission {situation.name} {name}", about, promise, ratios)


def _both(situation: Situation, number: int) -> Pair:
    """Make the two runs of one round, in alternating order."""

    def one(loop: Loop) -> TimedRun:
        try:
            return omission.measure(situation, loop, number)
        except NoVerdict as failure:
            raise Unmeasured(str(failure)) from None

    first, second = (Loop.OPEN, Loop.CLOSED) if number % 2 else (Loop.CLOSED, Loop.OPEN)
    made = {loop: one(loop) for loop in (first, second)}
    return made[Loop.OPEN], made[Loop.CLOSED]
