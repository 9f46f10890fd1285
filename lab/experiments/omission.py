"""A run twice: the same arrivals by an open loop, and by a closed loop, whose users wait for their answers.

In an open loop a request is sent when it is due. In a closed loop a few users share the same arrivals. While all of them wait,
requests are due and are not sent. A wait that is counted from the sending leaves that time out. Gil Tene named this coordinated
omission ("How NOT to Measure Latency", Strange Loop 2015): the load waits together with the server that it measures. His wrk2
counts each wait from the moment when the request was due. ``requests.jsonl`` has both moments of each request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.errors import NothingShown
from lab.evidence.history import History
from lab.experiments.child_run import child_run
from lab.experiments.measurement import Measurement
from lab.judge.judgement import Judgement, Verdict
from lab.paths import REPORTS
from lab.story.verdict import why

RATE_PER_S = 40  # the lock could serve some 60 a second: without a fault, nobody waits for long
REQUESTS = 240  # six seconds of load: the freeze of 0.9 s is a part of it, and not all
USERS = 4  # of the closed loop: at this rate, one of them is busy on average
WORK_MS, TTL_MS = 10, 300  # the work keeps the lock busy; the TTL is that of frozen_second
RETRY_MS = 5  # a waiter asks soon again, so that after the freeze the lock is soon free of those that waited
ROUNDS = 5
QUANTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p98": 0.98, "p99": 0.99, "longest": 1.0}


class Loop(StrEnum):
    """Whether the next request waits for the answer to the last one."""

    # a request is sent when it is due
    OPEN = "open"
    # a request is sent when it is due and a user has its answer
    CLOSED = "closed"


class Situation(msgspec.Struct, frozen=True):
    """What both loops load."""

    stage: str
    scenario: str

    @property
    def name(self) -> str:
        """Return the name in commands and tables."""
        return f"{self.stage} {self.scenario}"

    @property
    def frozen(self) -> bool:
        """Return whether the holder is frozen in it."""
        return self.scenario == FROZEN

    def words(self, loop: Loop, seed: int) -> list[str]:
        """Return the arguments of ``lab run``. A seed gives both loops the same arrivals."""
        options = {"rate": RATE_PER_S, "requests": REQUESTS, "seed": seed, "work-ms": WORK_MS, "ttl-ms": TTL_MS}
        options |= {"retry-ms": RETRY_MS}
        options |= {"connections": USERS} if loop is Loop.CLOSED else {}
        return [
            str(FROZEN_SECOND) if self.frozen else self.scenario,
            "--stage",
            self.stage,
            *(word for name, value in options.items() for word in (f"--{name}", str(value))),
        ]


FROZEN = "frozen_holder"
FROZEN_SECOND = Path(__file__).parent / "frozen_second.toml"  # the same, with a shorter freeze
LUA, WATCHDOG, UNFROZEN = Situation("lua", FROZEN), Situation("watchdog", FROZEN), Situation("lua", "rush")
SITUATIONS = (LUA, WATCHDOG, UNFROZEN)


class TimedRun(msgspec.Struct, kw_only=True):
    """The times of one run's requests, in the order in which they were due. Times are milliseconds since the first was due."""

    stage: str
    scenario: str
    loop: Loop
    # its number, from 1; both loops have the same arrivals in a round
    round: int
    verdict: str
    # when each request was due
    due_ms: list[float]
    # when it was sent
    sent_ms: list[float]
    # when its answer was there
    answered_ms: list[float]
    # from when until when the replica of the holder was frozen; empty where no replica was
    frozen_ms: list[float] = []

    @property
    def situation(self) -> Situation:
        return Situation(self.stage, self.scenario)

    @property
    def since_due_ms(self) -> list[float]:
        """Return how long each request took since it was due."""
        return [answered - due for answered, due in zip(self.answered_ms, self.due_ms, strict=True)]

    @property
    def since_sent_ms(self) -> list[float]:
        """Return how long each request took since it was sent: what a closed loop sees."""
        return [answered - sent for answered, sent in zip(self.answered_ms, self.sent_ms, strict=True)]


class View(NamedTuple):
    """Waits of one loop, counted from one moment."""

    words: str
    loop: Loop
    waits_ms: Callable[[TimedRun], list[float]]


OPEN = View("open loop, since it was due", Loop.OPEN, lambda run: run.since_due_ms)
CLOSED = View("closed loop, since it was sent", Loop.CLOSED, lambda run: run.since_sent_ms)
CORRECTED = View("closed loop, since it was due", Loop.CLOSED, lambda run: run.since_due_ms)


class OmissionBenchmark(Measurement[TimedRun], kw_only=True):
    """``omission.json``: the times of all requests, and the machine and versions."""

    # of the machine in the minute before
    load_average: float


def of(runs: Iterable[TimedRun], situation: Situation, loop: Loop) -> list[TimedRun]:
    """Return the runs of one situation by one loop, in the order of their rounds."""
    return sorted((one for one in runs if one.situation == situation and one.loop is loop), key=lambda one: one.round)


def ends(runs: Iterable[TimedRun], situation: Situation, view: View, name: str = "p95") -> list[float]:
    """Return a quantile of a view's waits in ms, by round."""
    return [quantile(view.waits_ms(run), QUANTILES[name]) for run in of(runs, situation, view.loop)]


def quantile(waits_ms: Iterable[float], share: float) -> float:
    """Return the wait that this share of the requests did not exceed: the smallest such wait. share: above 0, at most 1."""
    ordered = sorted(waits_ms)
    return ordered[math.ceil(share * len(ordered)) - 1]


def longer_than(waits_ms: Iterable[float], limit_ms: float) -> int:
    """Return how many requests waited longer."""
    return sum(wait > limit_ms for wait in waits_ms)


def rounds(number: int) -> Iterator[TimedRun]:
    """Make rounds of all situations, each by both loops. The order of the loops alternates. Raises NothingShown."""
    for place in range(1, number + 1):
        for situation in SITUATIONS:
            for loop in (Loop.OPEN, Loop.CLOSED) if place % 2 else (Loop.CLOSED, Loop.OPEN):
                yield _run(situation, loop, place)


def _run(situation: Situation, loop: Loop, number: int) -> TimedRun:
    """Make one run and return its times. Raises NothingShown where the waits mean nothing. number: also used as the seed."""
    words = situation.words(loop, seed=number)
    judgement = child_run([*words, "--no-draw"])
    if why := trusted(judgement, situation):
        raise NothingShown(f"lab run {' '.join(words)}: {why}")
    return timed(REPORTS / "runs" / judgement.run, judgement.verdict, situation, loop, number)


def timed(run: Path, verdict: str, situation: Situation, loop: Loop, number: int) -> TimedRun:
    """Return the times of a run from its folder. number: of the round."""
    history = History(run)
    requests = sorted(history.requests(), key=lambda one: one.intended_ns)
    first_ns = requests[0].intended_ns

    def since_first(ns: Iterable[int]) -> list[float]:
        return [round((at - first_ns) / 1e6, 1) for at in ns]

    return TimedRun(
        stage=situation.stage,
        scenario=situation.scenario,
        loop=loop,
        round=number,
        verdict=verdict,
        due_ms=since_first(one.intended_ns for one in requests),
        sent_ms=since_first(one.start_ns for one in requests),
        answered_ms=since_first(one.end_ns for one in requests),
        frozen_ms=since_first(at for fault in history.faults() for at in (fault.began_ns, fault.recovered_ns)),
    )


def trusted(judgement: Judgement, situation: Situation) -> str:
    """Return why the waits of a run mean nothing; empty where they do."""
    if judgement.acknowledged != REQUESTS:
        return f"{judgement.acknowledged} of {REQUESTS} requests were acknowledged: {why(judgement)}"
    if situation.frozen and judgement.verdict is Verdict.VOID:  # without a fault, a run may lack the danger of its scenario
        return why(judgement)
    return ""
