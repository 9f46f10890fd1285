"""The gain of each way of waiting through the whole stack: rush with pubsub and queued, compared with lua in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lab.experiments.benchmark import Measured, Promise, Unmeasured
from lab.experiments.child_run import NoVerdict, child_run
from lab.experiments.statistics import mean_of_ratios
from lab.judge.judgement import Judgement

REQUESTS = 2000
ROUNDS = 5
STAGES = ("lua", "pubsub", "queued")
Figure = Callable[[Judgement], float]


def measure(pairs: int) -> Iterator[Measured]:
    """Measure rounds of all three stages; every second round is in reverse order."""
    rounds = [
        {name: _rush(name) for name in (STAGES if number % 2 else STAGES[::-1])} for number in range(max(3, min(pairs, ROUNDS)))
    ]

    def ratio(name: str, of: str, figure: Figure, promise: Promise) -> Measured:
        ratios = [figure(one[of]) / figure(one["lua"]) for one in rounds]
        value, low, high = mean_of_ratios(ratios)
        what = f"{name} of {of}, as a share of lua's, {len(ratios)} rounds of {REQUESTS} requests"
        about = f"waits {of} {name.split(maxsplit=1)[0]}"
        return Measured(name=about, what=what, unit="", value=value, low=low, high=high, promise=promise, samples=ratios)

    yield ratio("throughput", "pubsub", lambda judgement: judgement.kept_per_s, Promise(at_least=0.9))
    yield ratio(
        "commands sent to the lock's store", "pubsub", lambda judgement: judgement.sent_per_increment, Promise(at_most=1.0)
    )
    yield ratio("throughput", "queued", lambda judgement: judgement.kept_per_s, Promise(at_least=1.0))
    yield ratio("p99 of the wait", "queued", lambda judgement: judgement.wait_ms["p99"], Promise(at_most=0.6))
    yield ratio("longest wait", "queued", lambda judgement: judgement.wait_ms["max"], Promise(at_most=0.5))


def _rush(stage: str) -> Judgement:
    try:
        judgement = child_run(["rush", "--stage", stage, "--requests", str(REQUESTS), "--no-draw"])
    except NoVerdict as failure:
        raise Unmeasured(str(failure)) from None
    if judgement.acknowledged != REQUESTS or judgement.lost:
        raise Unmeasured(f"rush on {stage} lost {judgement.lost} and failed {judgement.failed}: {judgement.why}")
    return judgement
