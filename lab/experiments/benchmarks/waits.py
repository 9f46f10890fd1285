"""Each way of waiting, compared with another.

``rush`` compares pubsub, queued and cohort with lua, fair with pubsub, and redlock_cohort with redlock. ``holder_crash`` compares
fair with pubsub while the holder's replica dies, and with it all waiters that it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lab.errors import NothingShown
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, run
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
# what is compared in each round: a figure of a stage with that of another, and the promise
COMPARED = (
    (PER_S, "pubsub", "lua", RatioLimit(at_least=0.9)),
    (SENT, "pubsub", "lua", RatioLimit(at_most=1.0)),
    (PER_S, "queued", "lua", RatioLimit(at_least=1.0)),
    (P99, "queued", "lua", RatioLimit(at_most=0.6)),
    (LONGEST, "queued", "lua", RatioLimit(at_most=0.5)),
    (PER_S, "fair", "pubsub", RatioLimit(at_least=0.6)),
    (PER_S, "cohort", "lua", RatioLimit(at_least=1.6)),
    (P99, "cohort", "lua", RatioLimit(at_most=0.35)),
    (SENT, "cohort", "lua", RatioLimit(at_most=0.1)),
)


def measure(pairs: int) -> Iterator[Measured]:
    """Measure rounds of all stages; every second round is in reverse order."""
    number = max(3, min(pairs, ROUNDS))
    rounds = [{name: _rush(name) for name in (STAGES if place % 2 else STAGES[::-1])} for place in range(number)]
    for figure, of, base, promise in COMPARED:
        yield _ratio(figure, of, base, [(one[of], one[base]) for one in rounds], f"rounds of {REQUESTS} requests", promise)
    crashes = list(pairwise(number, lambda: _with_a_crash("fair"), lambda: _with_a_crash("pubsub")))
    about = f"pairs of {REQUESTS} requests, where a replica dies with its waiters"
    yield _ratio(PER_S, "fair", "pubsub", crashes, about, RatioLimit(at_least=0.6), name="crash")
    votes = list(pairwise(number, lambda: _rush("redlock_cohort", VOTED_REQUESTS), lambda: _voted("redlock")))
    about = f"pairs of {VOTED_REQUESTS} requests"
    yield _ratio(PER_S, "redlock_cohort", "redlock", votes, about, RatioLimit(at_least=4.0))
    yield _refused("redlock_cohort")


def _ratio(
    figure: tuple[str, Figure], of: str, base: str, both: Sequence[Pair], pairs: str, promise: RatioLimit, name: str = ""
) -> Measured:
    what, value_of = figure
    words = f"{what} of {of}, as a share of {base}'s"
    return ratio(f"waits {of} {name or what.split(maxsplit=1)[0]}", words, promise, both, value_of, pairs)


def _refused(stage: str) -> Measured:
    """Measure how many of many requests a stage refuses."""
    failed = float(run("rush", stage, ALL_REQUESTS).failed)
    what = f"requests of {ALL_REQUESTS} that {stage} refused"
    return Measured(name=f"waits {stage} refused", what=what, value=failed, promise=RatioLimit(at_most=0.0), samples=[failed])


def _rush(stage: str, requests: int = REQUESTS) -> Judgement:
    return _unlost(run("rush", stage, requests, acknowledged=True))


def _voted(stage: str) -> Judgement:
    """Make a run in which requests may be refused, but none is lost."""
    return _unlost(run("rush", stage, VOTED_REQUESTS))


def _unlost(judgement: Judgement) -> Judgement:
    if judgement.lost:
        raise NothingShown(f"rush on {judgement.stage} lost {judgement.lost}: {why(judgement)}")
    return judgement


def _with_a_crash(stage: str) -> Judgement:
    judgement = run(CRASH, stage, REQUESTS, "--users", "100", "--work-ms", "0", "--wait-ms", "10000")
    if judgement.verdict is not Verdict.KEPT:
        raise NothingShown(f"{CRASH} on {stage} was {judgement.verdict}: {why(judgement)}")
    return judgement
