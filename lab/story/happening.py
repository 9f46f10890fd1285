"""Define a happening: one fact of a judged run or of an explored schedule. It has codes and figures, but no sentence."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from lab.evidence.loss import Mechanism


class Kind(StrEnum):
    """The kind of a happening. The value is the code in files, and the name of its template in ``words.toml``."""

    # events that no client causes: faults, and steps of the clock
    CLOCK = "clock"
    PAUSED = "paused"
    RESUMED = "resumed"
    KILLED = "killed"
    STORE_RESTARTED = "store_restarted"
    SERVER_RESTARTED = "server_restarted"
    LOCK_EXPIRED = "lock_expired"
    VOTES_EXPIRED = "votes_expired"
    # steps of a client, command by command
    COMMAND = "command"
    ANSWER = "answer"
    ERROR = "error"
    SECOND_ANSWER = "second_answer"
    SECOND_ERROR = "second_error"
    MESSAGE = "message"
    NAP_OVER = "nap_over"
    AND_AGAIN = "and_again"
    DREW = "drew"
    HEARD = "heard"
    SENT = "sent"
    SENT_TO_STORE = "sent_to_store"
    SENT_TO_SERVER = "sent_to_server"
    COMMAND_LOST = "command_lost"
    REPLY_LOST = "reply_lost"
    SENT_AGAIN = "sent_again"
    ALL_COMMANDS_LOST = "all_commands_lost"
    ALL_REPLIES_LOST = "all_replies_lost"
    ALL_SENT_AGAIN = "all_sent_again"
    # the work of a request, its end, and the wait before its next try
    WORK_FAILED = "work_failed"
    REQUEST_FAILED = "request_failed"
    DONE = "done"
    WOKE = "woke"
    # at the lock
    KEY_SET = "key_set"
    KEY_SET_TWICE = "key_set_twice"
    GRANTED = "granted"
    GRANTED_WITH_FENCE = "granted_with_fence"
    BEGAN = "began"
    BEGAN_WITHOUT_LOCK = "began_without_lock"
    WAITED = "waited"
    SAW_FREE = "saw_free"
    SAW_OWN = "saw_own"
    SAW_OTHERS = "saw_others"
    RENEWED = "renewed"
    RENEWED_OTHERS = "renewed_others"
    RELEASED = "released"
    DELETED_OTHERS = "deleted_others"
    LEFT_OWN = "left_own"
    LEFT_OTHERS = "left_others"
    # at one of several servers
    VOTE = "vote"
    VOTE_REFUSED = "vote_refused"
    VOTE_RENEWED = "vote_renewed"
    VOTE_RENEWED_OTHERS = "vote_renewed_others"
    VOTE_TAKEN_BACK = "vote_taken_back"
    VOTE_TAKEN_BACK_OTHERS = "vote_taken_back_others"
    VOTE_LEFT_OTHERS = "vote_left_others"
    # at the counter
    READ = "read"
    WROTE = "wrote"
    OVERWROTE = "overwrote"
    WRITE_REFUSED = "write_refused"
    # how a claim breaks: the codes of ``Harm``; a lost increment has three ways
    LOST = "lost"
    LOST_IN_PROCESS = "lost_in_process"
    LOST_BETWEEN_HOLDERS = "lost_between_holders"
    TWO_HOLDERS = "two_holders"
    TWO_IN_PROCESS = "two_in_process"
    TWICE = "twice"
    NOT_DONE = "not_done"
    DONE_AND_REFUSED = "done_and_refused"
    THEFT = "theft"
    FOREIGN_RENEWAL = "foreign_renewal"
    RENEWED_FOR_NOBODY = "renewed_for_nobody"
    ABANDONED = "abandoned"
    STUCK = "stuck"
    LOCKED = "locked"
    NOT_FREED = "not_freed"
    ASLEEP = "asleep"
    REFUSED_TO_ITSELF = "refused_to_itself"
    FREED_BY_INNER = "freed_by_inner"
    FENCE = "fence"
    FEW_SERVED = "few_served"
    FAILED = "failed"
    BLOCKED_BY_LEAVER = "blocked_by_leaver"
    SLOW_TRY = "slow_try"
    # two holders of a judged run
    GRANTED_AS_WELL = "granted_as_well"
    GRANTED_LOCALLY = "granted_locally"
    GRANTED_BY_VOTES = "granted_by_votes"
    VOTES_FORGOTTEN = "votes_forgotten"
    VOTES_LAPSED = "votes_lapsed"
    CAME_IN = "came_in"
    CAME_IN_AS_WELL = "came_in_as_well"
    DESTROYED = "destroyed"
    RESTORED = "restored"
    NO_GROWTH = "no_growth"
    LEASE_ENDED = "lease_ended"
    DELETED_LATE = "deleted_late"
    CAUSE = "cause"
    # a fault and its consequences
    FAULT = "fault"
    FAULT_ANYWHERE = "fault_anywhere"
    HELD_AT_FAULT = "held_at_fault"
    HELD_AT_DEATH = "held_at_death"
    NEXT_GOT = "next_got"
    NEXT_GOT_AFTER_DEATH = "next_got_after_death"
    GOT_MEANWHILE = "got_meanwhile"
    NOBODY_GOT = "nobody_got"
    ASKED = "asked"
    KEY_STAYED = "key_stayed"
    LEASE_OVER = "lease_over"
    GAVE_UP_WAITING = "gave_up_waiting"
    OTHERS_GAVE_UP = "others_gave_up"
    NOBODY_GOT_AFTER_DEATH = "nobody_got_after_death"
    NOBODY_GOT_SINCE = "nobody_got_since"
    GAVE_UP = "gave_up"
    GAVE_UP_BEFORE = "gave_up_before"
    GAVE_WORK_UP = "gave_work_up"
    SECOND_WRITE_REFUSED = "second_write_refused"
    FENCE_OLDER = "fence_older"
    FENCE_OF_ANOTHER = "fence_of_another"
    OTHERS_REFUSED = "others_refused"
    # the writes and the losses of a whole run
    WRITTEN = "written"
    NOTHING_WRITTEN = "nothing_written"
    COUNTED_TWICE = "counted_twice"
    RUN_LOST = "run_lost"
    NOTHING_LOST = "nothing_lost"
    BROUGHT_BACK = "brought_back"
    # facts about all grants in view
    AT_ONCE = "at_once"
    RENEWALS_KEPT = "renewals_kept"
    LOCKS_AT_ONCE = "locks_at_once"
    IN_TURN = "in_turn"
    GOT_WITHIN = "got_within"
    GOT_WITHIN_FROM = "got_within_from"
    # how the claim under test held or broke, if not by a loss
    OVERTAKEN = "overtaken"
    NOT_OVERTAKEN = "not_overtaken"
    HANDED_OVER = "handed_over"
    LONGEST_HANDOVER = "longest_handover"
    REPEATED = "repeated"
    NOT_REPEATED = "not_repeated"
    WRITTEN_TOO_OFTEN = "written_too_often"
    INNER_FREED = "inner_freed"
    WAITED_FOR_ITSELF = "waited_for_itself"
    WAITED_FOR_ITSELF_IN_VAIN = "waited_for_itself_in_vain"
    REENTERED = "reentered"
    LEFT_LOCK = "left_lock"
    NONE_ENTERED = "none_entered"
    GOT_LEFT_LOCK = "got_left_lock"
    ENTERED_LEFT_LOCK = "entered_left_lock"
    ALL_ENTERED = "all_entered"
    DEADLOCK = "deadlock"
    NO_DEADLOCK = "no_deadlock"
    HELD_AND_GAVE_UP = "held_and_gave_up"
    ALL_GAVE_UP = "all_gave_up"
    WAITED_IN_VAIN = "waited_in_vain"
    LONGEST_WAIT = "longest_wait"
    WAITED_FOR_FREE = "waited_for_free"


WRITES = (Kind.WROTE, Kind.OVERWROTE)
LOSSES = (Kind.LOST, Kind.LOST_IN_PROCESS, Kind.LOST_BETWEEN_HOLDERS)


class Happening(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened. A field that a kind does not use has its default."""

    kind: Kind
    # when, in milliseconds from the beginning
    at_ms: float = 0
    # the letter of a client, or the name of a request; empty for the clock and the store, and if it is not known
    actor: str = ""
    # the other requests: the owner of the lock, vote or write; or the waiters
    others: tuple[str, ...] = ()
    key: str = ""
    # the value that was read, written or drawn; a fence; the number of lost increments
    value: int = 0
    # the value that a write overwrote
    over: int = 0
    # the servers at which it happened, counted from 1, if there are several
    servers: tuple[int, ...] = ()
    # the replica, or the file and line
    place: str = ""
    # the code of the fault that was injected
    fault: str = ""
    # why a holder was not entitled: a code of ``Why``
    why: str = ""
    # text that is the same in each language: a command, a reply, an error
    code: str = ""
    # whether a thread in the background did it, and not the request's own thread
    background: bool = False
    # how many requests, increments, writes, hand-overs; and of how many
    number: int = 1
    of: int = 0
    # how long it took, or lasted; the time to live of the lock that it is about
    for_ms: float = 0
    ttl_ms: float = 0
    # the replica of the other request
    other_place: str = ""
    # the key for which the request waits
    wanted: str = ""
    # why two holders were inside at once, if this is a loss
    cause: Mechanism | None = None
    # the effect of a fault: a code of ``Effect``
    effect: str = ""
    # whether the stage has a lock that a request can hold
    locked: bool = True


class Held(msgspec.Struct, frozen=True, array_like=True):
    """A key of the lock in the store."""

    name: str
    # the letter of the client that made it
    owner: str
    # until when it lives, on the clock of the search; 0 if it does not expire
    until_ms: int
    # the server that has it, if there are several; 0 if the lock has one store
    server: int = 0


class Doing(msgspec.Struct, frozen=True, array_like=True):
    """The state of a client after an event."""

    # "runs", "paused", "dead" or "over"
    mode: str
    # whether it is in its work, and whether it is entitled to the lock then: "", "entitled" or "late"
    work: str


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event of a schedule, and the state that an observer sees after it. No client sees all of it."""

    # the short form: "A", "pA", "t3000"
    event: str
    # the event itself: the command with its place in the code, or a fault, or a step of the clock
    row: Happening
    # the effects of the event, in order; empty if there is nothing to say
    did: tuple[Happening, ...]
    lock: tuple[Held, ...]
    counter: int
    clients: tuple[Doing, ...]
    # the store's reply; ``source``: the line of code that sent the command
    reply: str = ""
    source: str = ""
    # the names of the claims that the event breaks; ``breaks``: how
    claims: tuple[str, ...] = ()
    breaks: tuple[Happening, ...] = ()
    # of a step of the clock: how many tries of waiters failed meanwhile
    asked_in_vain: int = 0
    # how many events this scene replaces, itself included
    events: int = 1

    @property
    def writes(self) -> bool:
        """Return whether the event writes to the counter."""
        return any(one.kind in WRITES for one in self.did)


class Story(msgspec.Struct, frozen=True, omit_defaults=True):
    """A schedule, ready to be put in words and drawn."""

    stage: str
    # the short form of the schedule, and the faults that it injects, by the fields of ``Budget``
    schedule: str
    faults: dict[str, int]
    ttl_ms: int
    work_ms: int
    # before the first event
    start: tuple[Doing, ...]
    # whether the stage has a lock in the store
    has_lock: bool
    scenes: tuple[Scene, ...]
    # a claim that the last event breaks: the requested one, if it is among them; empty if the event breaks none
    claim: str = ""
    # the number of servers of the lock's store
    servers: int = 1
