"""A fact of a verdict: a code and its figures. Only ``lab/story`` makes words of it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from lab.judge.unseen import Unseen


class Code(StrEnum):
    """What a fact states. The value is the code in ``verdict.json``, and the name of its words."""

    # what was seen of a broken promise: lab/judge/safety.py
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
    # the same: lab/judge/liveness.py
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
    UNSEEN_COMMANDS = "unseen_commands"
    NO_WRITE_OF = "no_write_of"
    WRITE_OF_REFUSED = "write_of_refused"
    ON_RECORD = "on_record"
    LEASE_TOO_SHORT = "lease_too_short"
    STALLED = "stalled"
    HARDLY_EVER_FREE = "hardly_ever_free"
    SEVERAL_CLOCKS = "several_clocks"
    # the danger was never reached, or nobody was served; what follows says by how much, and why
    DANGER_NOT_REACHED = "danger_not_reached"
    NOBODY_SERVED = "nobody_served"
    # after the fault nobody wanted the lock for long enough
    NOBODY_ASKED = "nobody_asked"
    # holders worked for most of the time, and requests were refused
    OVERLOADED = "overloaded"
    MEASURE_SHORT = "measure_short"
    FAULT_AT_ONE_VOTE = "fault_at_one_vote"
    TOO_FEW_REQUESTS = "too_few_requests"
    NOT_SERVED_BECAUSE = "not_served_because"
    NOT_SERVED_UNKNOWN = "not_served_unknown"
    PROCESSES_ENDED = "processes_ended"
    # why nothing was broken although nothing was promised
    HELD_BY_RENEWALS = "held_by_renewals"


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact. What a code does not have is at its default."""

    code: Code
    # how many, and of how many
    n: int = 0
    of: int = 0
    # how many of those at most, or most often
    most: int = 0
    # a bound: how often
    times: int = 0
    ms: int = 0
    request: str = ""
    replica: str = ""
    failpoint: str = ""
    # of a measure, a claim, a key, or a kind of damage
    name: str = ""
    file: str = ""
    # several values, and several names
    values: tuple[int, ...] = ()
    several: tuple[str, ...] = ()
    unseen: Unseen | None = None
    # what is the same in each language: an error, a line, a number that was answered
    detail: str = ""
