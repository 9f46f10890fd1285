"""Define the facts of a verdict, each a code with figures, and the examples of facts: single requests or moments of a run.

Only ``lab/story`` puts them into words. Times are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations

import msgspec

from lab.evidence.loss import GrantFacts

EXAMPLES = 5  # how many examples of a kind are kept


class Code(StrEnum):
    """Name the kind of a fact. The value is the code in ``verdict.json``, and the name of its words."""

    # how a promise of safety was broken: lab/judge/violations.py
    LOST = "lost"
    OVERWROTE_AND_RESTORED = "overwrote_and_restored"
    TWO_INSIDE = "two_inside"
    OVERWROTE_IN_PROCESS = "overwrote_in_process"
    TWO_INSIDE_IN_PROCESS = "two_inside_in_process"
    WROTE_AGAIN = "wrote_again"
    NOT_WRITTEN = "not_written"
    REFUSED_AND_DONE = "refused_and_done"
    HALF_DONE = "half_done"
    HOLDERS_REFUSED = "holders_refused"
    REENTERED = "reentered"
    # how a promise of liveness was broken
    NOBODY_AFTER_FAULT = "nobody_after_fault"
    LATE_AFTER_FAULT = "late_after_fault"
    FREE_LATER = "free_later"
    NOBODY_MEANWHILE = "nobody_meanwhile"
    SOMEBODY_MEANWHILE = "somebody_meanwhile"
    OVERTAKEN = "overtaken"
    GAVE_UP = "gave_up"
    WAITED_TOO_LONG = "waited_too_long"
    HALF_TRIED_SLOWLY = "half_tried_slowly"
    SOME_TRIED_SLOWLY = "some_tried_slowly"
    HALF_HANDED_OVER_LATE = "half_handed_over_late"
    SOME_HANDED_OVER_LATE = "some_handed_over_late"
    BLOCKED = "blocked"
    BLOCKED_TO_THE_END = "blocked_to_the_end"
    BLOCKED_EVERYWHERE = "blocked_everywhere"
    BLOCKED_EVERYWHERE_TO_THE_END = "blocked_everywhere_to_the_end"
    TOO_MANY_REFUSED = "too_many_refused"
    MOSTLY_BECAUSE = "mostly_because"
    FREED_EARLY = "freed_early"
    STAYED = "stayed"
    # why a run proves nothing: lab/judge/verdict.py
    ENDED = "ended"
    UNWRITTEN = "unwritten"
    STILL_INSIDE = "still_inside"
    DAMAGED = "damaged"
    NOT_READ = "not_read"
    NOBODY_WROTE = "nobody_wrote"
    DOES_NOT_ADD_UP = "does_not_add_up"
    NO_JOURNAL_OF = "no_journal_of"
    WRITE_OF_OTHERS = "write_of_others"
    OTHER_ANSWER = "other_answer"
    NO_ANSWER = "no_answer"
    SOLD_OUT_NOT_JOURNALED = "sold_out_not_journaled"
    NEVER_SENT = "never_sent"
    STRANGE_KEY = "strange_key"
    REPORTS_OFF = "reports_off"
    UNSEEN_COMMANDS = "unseen_commands"
    ASKED_NO_STORE = "asked_no_store"
    NO_WRITE_OF = "no_write_of"
    WRITE_OF_REFUSED = "write_of_refused"
    ON_RECORD = "on_record"
    LEASE_TOO_SHORT = "lease_too_short"
    STALLED = "stalled"
    HARDLY_EVER_FREE = "hardly_ever_free"
    CLOCKS_CONTRADICT = "clocks_contradict"
    WITHIN_CLOCK_ERROR = "within_clock_error"
    # the danger was never reached, or no request was served; later facts say by how much, and why
    DANGER_NOT_REACHED = "danger_not_reached"
    NOBODY_SERVED = "nobody_served"
    # after the fault no request wanted the lock for long enough
    NOBODY_ASKED = "nobody_asked"
    # holders worked for most of the time, and requests were refused
    OVERLOADED = "overloaded"
    # programs outside the run took most of the processors, and a bound of time was exceeded
    CROWDED = "crowded"
    MEASURE_SHORT = "measure_short"
    FAULT_BESIDE = "fault_beside"
    TOO_FEW_REQUESTS = "too_few_requests"
    NOT_SERVED_BECAUSE = "not_served_because"
    NOT_SERVED_UNKNOWN = "not_served_unknown"
    PROCESSES_ENDED = "processes_ended"


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact. A field that a code does not use has its default."""

    code: Code
    # the number, and the total that it is a part of
    n: int = 0
    of: int = 0
    # the largest of several numbers
    most: int = 0
    # how often something may happen at most
    times: int = 0
    ms: int = 0
    request: str = ""
    replica: str = ""
    failpoint: str = ""
    # the name of a measure, a claim, a key, or a kind of damage
    name: str = ""
    file: str = ""
    # several values, and several names
    values: tuple[int, ...] = ()
    several: tuple[str, ...] = ()
    # text that is the same in each language: an error, a line, a number in an answer
    detail: str = ""


class Wait(msgspec.Struct, frozen=True, tag="wait", tag_field="what"):
    """A request's wait for the lock, until it got the lock or gave up."""

    request: str
    replica: str
    asked_ns: int
    # when the wait ended
    until_ns: int
    # whether the request got the lock
    got: bool
    # the short name of the key that it waited for; empty if the evidence does not name it
    wanted: str = ""
    # the short name of the key that it held meanwhile; empty if the evidence does not name it
    holding: str = ""

    @property
    def ms(self) -> float:
        return (self.until_ns - self.asked_ns) / 1e6


class Overtaken(msgspec.Struct, frozen=True, tag="overtaken", tag_field="what"):
    """A request that waited while requests that had asked later got the lock."""

    request: str
    replica: str
    # how many requests asked after it and got the lock before it
    overtaken: int
    asked_ns: int
    got_ns: int


class Idle(msgspec.Struct, frozen=True, tag="idle", tag_field="what"):
    """A time in which the lock was free although a request waited for it."""

    # the request that released the lock
    released_by: str
    # the waiting request that got the lock next
    taken_by: str
    # when the release was sent
    releasing_ns: int
    # when the waiting request got the lock
    got_ns: int

    @property
    def ms(self) -> float:
        return max(0, self.got_ns - self.releasing_ns) / 1e6


class Repeated(msgspec.Struct, frozen=True, tag="repeated", tag_field="what"):
    """A request that wrote more than once."""

    request: str
    # how many writes it made
    times: int


class HalfDone(GrantFacts, tag="half_done", tag_field="what", gc=False):
    """A grant whose second write was not done, or came too late."""

    # how the second write failed
    how: str


class FreedEarly(GrantFacts, tag="freed_early", tag_field="what", gc=False):
    """A grant of a lock that was taken twice: the inner release freed the lock, and the outer release found nothing."""


class Reentered(msgspec.Struct, frozen=True, tag="reentered", tag_field="what"):
    """A request that entered a lock which a failed request had left behind."""

    request: str
    # the failed request
    left_by: str
    # the replica of both
    replica: str
    # when the failed request ended
    left_ns: int
    # when the second request got the lock
    got_ns: int


class TwoInside(msgspec.Struct, frozen=True, tag="two_inside", tag_field="what"):
    """Two grants that were inside at once."""

    # the grant that was got first
    elder: GrantFacts
    # the grant that came in meanwhile
    younger: GrantFacts


class Unwritten(msgspec.Struct, frozen=True, tag="unwritten", tag_field="what"):
    """A request that was acknowledged, and for which no replica wrote."""

    request: str
    # the replica that acknowledged it
    replica: str


class RefusedAndWritten(msgspec.Struct, frozen=True, tag="refused_and_written", tag_field="what"):
    """A request that was refused, and for which a replica wrote."""

    request: str
    # the HTTP status of the refusal
    status: int


class Refusals(msgspec.Struct, frozen=True, tag="refusals", tag_field="what"):
    """Writes that the resource refused."""

    refused: int


Example = (
    Wait | Overtaken | Idle | Repeated | HalfDone | FreedEarly | Reentered | TwoInside | Unwritten | RefusedAndWritten | Refusals
)


def short_key(key: str) -> str:
    """Return a key without its prefix of run and stage."""
    return key.rpartition(":")[2]


def deadlock(waits: Sequence[Wait]) -> tuple[Wait, Wait] | None:
    """Return the first two overlapping waits in which each request held the key that the other one waited for; else None."""
    for one, other in combinations(waits, 2):
        crossed = one.holding and one.holding == other.wanted and other.holding == one.wanted != one.holding
        if crossed and one.asked_ns < other.until_ns and other.asked_ns < one.until_ns:
            return one, other
    return None
