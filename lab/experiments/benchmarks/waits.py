"""The gain of each way of waiting through the whole stack: each stage compared with another in turn.

``rush`` compares pubsub, queued and cohort with lua, fair with pubsub, and redlock_cohort with redlock. ``holder_crash`` compares
fair with pubsub while the holder's replica dies, and with it all waiters that it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured, pairwise, ratio
from lab.experiments.child_run import NoVerdict, child_run
from lab.judge.judgement import Judgement, Verdict
from lab.story.verdict import why

REQUESTS = 2000
ROUNDS = 5
STAGES = ("lua", "pubsub", "queued", "fair", "cohort")
VOTED_REQUESTS = 500  # redlock serves few requests a second
ALL_REQUESTS = 5000
CRASH = "holder_crash"  # it kills one replica early, when the other users of that replica wait
Figure = Callable[[Judgement], float]
Pair = tuple[Judgement, Judgement]

PER_S: tuple[str, Figure] = "throughput", lambda judgement: judgement.kept_per_s
SENT: tuple[str, Figure] = "commands sent to the lock's store", lambda judgement: judgement.sent_per_increment
P99: tuple[str, Figure] = "p99 of the wait", lambda judgement: judgement.wait_ms["p99"]
LONGEST: tuple[str, Figure] = "longest wait", lambda judgement: judgement.wait_ms["max"]


def measure(pairs: int) -> Iterator[Measured]:
    """Measure rounds of all stages; every second round is in reverse order."""
    number = max(3, min(pairs, ROUNDS))
    rounds = [{name: _rush(name) for name in (STAGES if place % 2 else STAGES[::-1])} for place in range(number)]

    def share(figure: tuple[str, Figure], of: str, base: str, promise: RatioLimit) -> Measured:
        return _ratio(figure, of, base, [(one[of], one[base]) for one in rounds], f"rounds of {REQUESTS} requests", promise)

    yield share(PER_S, "pubsub", "lua", RatioLimit(at_least=0.9))
    yield share(SENT, "pubsub", "lua", RatioLimit(at_most=1.0))
    yield share(PER_S, "queued", "lua", RatioLimit(at_least=1.0))
    yield share(P99, "queued", "lua", RatioLimit(at_most=0.6))
    yield share(LONGEST, "queued", "lua", RatioLimit(at_most=0.5))
    yield share(PER_S, "fair", "pubsub", RatioLimit(at_least=0.6))
    yield share(PER_S, "cohort", "lua", RatioLimit(at_least=1.6))
    yield share(P99, "cohort", "lua", RatioLimit(at_most=0.35))
    yield share(SENT, "cohort", "lua", RatioLimit(at_most=0.1))
    crashes = list(pairwise(number, lambda: _with_a_crash("fair"), lambda: _with_a_crash("pubsub")))
    about = f"pairs of {REQUESTS} requests, where a replica dies with its waiters"
    yield _ratio(PER_S, "fair", "pubsub", crashes, about, RatioLimit(at_least=0.6), name="crash")
    votes = list(pairwise(number, lambda: _rush("redlock_cohort", VOTED_REQUESTS), lambda: _voted("redlock")))
    about = f"pairs of {VOTED_REQUESTS} requests"
    yield _ratio(PER_S, "redlock_cohort", "redlock", votes, about, RatioLimit(at_least=4.0))
    yield _refused("redlock_cohort")


def _ratio(
    figure: tuple[str, Figure], of: str, base: str, pairs: Sequence[Pair], about: str, promise: RatioLimit, name: str = ""
) -> Measured:
    what, value_of = figure
    ratios = [value_of(one) / value_of(other) for one, other in pairs]
    in_words = f"{what} of {of}, as a share of {base}'s, {len(ratios)} {about}"
    return ratio(f"waits {of} {name or what.split(maxsplit=1)[0]}", in_words, promise, ratios)


def _refused(stage: str) -> Measured:
    """Measure how many of many requests a stage refuses."""
    failed = float(_run("rush", stage, ALL_REQUESTS).failed)
    return Measured(
        name=f"waits {stage} refused",
        what=f"requests of {ALL_REQUESTS} that {stage} refused",
        unit="",
        value=failed,
        promise=RatioLimit(at_most=0.0),
        samples=[failed],
    )


def _rush(stage: str, requests: int = REQUESTS) -> Judgement:
    judgement = _voted(stage, requests)
    if judgement.acknowledged != requests:
        raise Unmeasured(f"rush on {stage} failed {judgement.failed} of {requests} requests: {why(judgement)}")
    return judgement


def _voted(stage: str, requests: int = VOTED_REQUESTS) -> Judgement:
    """Make a run in which requests may be refused, but none is lost."""
    judgement = _run("rush", stage, requests)
    if judgement.lost:
        raise Unmeasured(f"rush on {stage} lost {judgement.lost}: {why(judgement)}")
    return judgement


def _with_a_crash(stage: str) -> Judgement:
    judgement = _run(CRASH, stage, REQUESTS, "--users", "100", "--work-ms", "0", "--wait-ms", "10000")
    if judgement.verdict is not Verdict.KEPT:
        raise Unmeasured(f"{CRASH} on {stage} was {judgement.verdict}: {why(judgement)}")
    return judgement


def _run(scenario: str, stage: str, requests: int, *more: str) -> Judgement:
    try:
        return child_run([scenario, "--stage", stage, "--requests", str(requests), "--no-draw", *more])
    except NoVerdict as failure:
        raise Unmeasured(str(failure)) from None
