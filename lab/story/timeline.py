"""The data of a run's timeline, from which its pictures are drawn.

Times are whole microseconds since the first request, NEVER if an event did not happen. The records are JSON arrays
(``array_like``): their fields' names stand here once, and not in every line. A *place* is an index into a list of the timeline.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

import msgspec

from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.story.happening import Happening, Kind

NEVER = -1
FORGOTTEN = "forgotten"  # the end of a vote if its server voted anew without having removed the vote
RECEIVED_WITHIN_US = 100_000  # the lab receives an expiry up to this late, and all other events much sooner
OLDER = re.compile(r"the fence (\d+) is older than (\d+)")  # in the message of a resource with a fence that refuses a write
NO_LEASE = ("LOAD", "MASTERS")  # the "keys" in some journals of commands that only set up a client


class DrawnGrant(msgspec.Struct, array_like=True):
    """A grant as the timeline draws it."""

    request: str
    # the place of the replica
    replica: int
    # the place of the key; NEVER without a key
    key: int
    # when the request asked for the lock
    asked: int
    # when the request had the lock
    got: int
    # the row of its lane
    slot: int = 0
    # when the read was sent
    reading: int = NEVER
    # when the read was answered, and with which value
    read_at: int = NEVER
    read: int | None = None
    # when the write was confirmed, which value it left, and which value it replaced
    wrote_at: int = NEVER
    wrote: int | None = None
    overwrote: int | None = None
    # until when the holder believed to hold the lock: before the release is sent; without a release, its death or the run's end
    until: int = NEVER
    # when the release was answered
    released: int = NEVER
    # how the release went
    result: str = ""
    # the place of its key's life at the store; NEVER if the evidence does not name it
    lease: int = NEVER
    # commands sent to the lock's store for the grant
    commands: int = 0
    # when the command that was granted the lock was sent; NEVER if the evidence does not have it
    acquiring: int = NEVER
    # when the write was sent; NEVER if the evidence does not have it
    writing: int = NEVER
    # a moment at which the counter took the read, and the write, with parts of a microsecond; NEVER if none fits
    read_in: float = NEVER
    wrote_in: float = NEVER
    # the number of the whole counter after the write; None if the evidence does not have it
    counter: int | None = None
    # the number of the grant; 0 if the stage has none
    fence: int = 0
    # when the resource refused a write; NEVER if it did not
    refused_at: int = NEVER
    # since when a request that nests two locks has held the outer one, and until when; NEVER without one
    outer_got: int = NEVER
    outer_until: int = NEVER
    # the part of the counter; empty for the whole
    part: str = ""

    @property
    def is_refused(self) -> bool:
        """Return whether the resource refused the write."""
        return self.result.startswith("error: Refused") or self.result == "refused"

    @property
    def refused_moment(self) -> int:
        """Return when the resource refused the write; if the evidence does not have it, when the work ended."""
        return self.until if self.refused_at == NEVER else self.refused_at

    @property
    def fences(self) -> tuple[int, int] | None:
        """Return the fence of a refused write and the fence that the resource had seen; None if the reason is another."""
        found = OLDER.search(self.result)
        return None if found is None else (int(found[1]), int(found[2]))

    @property
    def is_abandoned(self) -> bool:
        """Return whether the holder gave its work up, because it had lost the lock."""
        return self.result.startswith("error: Abandoned")

    @property
    def read_moment(self) -> float:
        """Return a moment of the read; if none is known, the moment of its answer."""
        return self.read_at if self.read_in == NEVER else self.read_in

    @property
    def wrote_moment(self) -> float:
        """Return a moment of the write; if none is known, the moment of its answer."""
        return self.wrote_at if self.wrote_in == NEVER else self.wrote_in


class Life(msgspec.Struct, array_like=True):
    """A key's life at the lock's store, as the lab received it; or at one of several servers: its vote for a request."""

    # the place of the key; of a vote, the place of the server in the list of the servers that vote
    place: int
    # when the key was set
    born: int
    # when its time to live was over; NEVER without one
    due: int = NEVER
    # when the store removed it
    gone: int = NEVER
    # how it ended: an event of the store, or ``set over``; ``forgotten`` if a server voted anew without having removed its vote
    how: str = ""
    # the place of the grant that it belongs to; NEVER if the evidence does not name it, or for a request without a majority
    holder: int = NEVER
    # the place of the grant whose release ended it; NEVER if the evidence does not name it
    by: int = NEVER
    # when it was renewed
    touched: list[int] = []

    @property
    def ended(self) -> int:
        """Return when the lease was over. The store reports an expiry late; if its clock jumped, the key was gone early."""
        return min(self.due, self.gone) if self.how == "expired" and self.due != NEVER else self.gone

    def removed(self, run_end: int) -> int:
        """Return when the key was removed or forgotten, or the end of the run."""
        return run_end if self.gone == NEVER else self.gone

    def end(self, run_end: int) -> int:
        """Return when the lease, or the vote, was over. The store may have removed the key later."""
        return min(at for at in (self.due, self.removed(run_end)) if at != NEVER)


class DrawnLoss(msgspec.Struct, array_like=True):
    """A write that destroyed increments, as the timeline draws it."""

    # the places of the two grants; the victim is NEVER if the evidence does not name it
    culprit: int
    victim: int
    # how many increments it destroyed
    destroyed: int
    # the place of the mechanism
    mechanism: int


class DrawnFault(msgspec.Struct, array_like=True):
    """A fault outcome as the timeline draws it."""

    # the name of the fault's file
    kind: str
    # the failpoint, phase.moment
    failpoint: str
    # the place of the replica in its list; NEVER if it is unknown
    replica: int
    # the request that reached the failpoint
    request: str
    # when the fault began
    at: int
    # when the recovery was complete
    recovered: int
    # when the replica's process was up again; NEVER if it had not died
    back: int = NEVER
    # when another request, ``next_request``, got the lock; NEVER if none did
    next_got: int = NEVER
    next_request: str = ""
    # the effect of the fault
    effect: Effect = Effect.OTHER


class Waited(msgspec.Struct, array_like=True):
    """A request that gave up without a grant."""

    request: str
    # the place of the replica
    replica: int
    asked: int
    gave_up: int


class Renewal(msgspec.Struct, array_like=True):
    """A command outside any request."""

    # the place of the replica
    replica: int
    # the place of the key
    key: int
    at: int
    # whether it can have prolonged a lease
    succeeded: bool


class Timeline(msgspec.Struct, kw_only=True):
    """A run as a picture needs it."""

    stage: str
    # the lock's time to live; 0 without one
    ttl: int = 0
    # whether the stage locks outside the process
    asked_store: bool = True
    # the names of the replicas and keys, and the mechanisms of losses
    replicas: list[str] = []
    keys: list[str] = []
    mechanisms: list[Mechanism] = []
    # when the run was over
    end: int = 0
    # the span that the picture shows first
    opens: tuple[int, int] = (0, 0)
    # the place of the loss, or of the fault, that the picture opens on; NEVER without one
    focus: int = NEVER
    focus_fault: int = NEVER
    # whether the fault that the picture opens on broke a claim: it kept the lock from others, for too long or for ever
    is_kept_from_others: bool = False
    # how the claim under test held or broke, if that can be stated without a loss or a fault; and its span
    claim: tuple[Happening, ...] = ()
    about: tuple[int, int] = (NEVER, NEVER)
    # how many grants the run had, in the picture or not
    grants: int = 0
    # the facts of the judgement
    writes: int = 0
    lost: int = 0
    duplicated: int = 0
    held: list[DrawnGrant] = []
    lives: list[Life] = []
    losses: list[DrawnLoss] = []
    faults: list[DrawnFault] = []
    waited: list[Waited] = []
    renewals: list[Renewal] = []
    # how many requests of all replicas were waiting, for the still picture: pairs of a moment and the number from that moment on
    waiting: list[tuple[int, int]] = []
    # of a lock that several servers vote on: their names, and their votes
    voters: list[str] = []
    votes: list[Life] = []

    @property
    def majority(self) -> int:
        """Return how many votes a grant has at least."""
        return len(self.voters) // 2 + 1

    def voted_for(self, place: int) -> set[int]:
        """Return which servers voted for a grant; none if the lab received fewer votes than a majority: some came too late."""
        found = {vote.place for vote in self.votes if vote.holder == place != NEVER}
        return found if len(found) >= self.majority else set()

    @property
    def lock_keys(self) -> set[int]:
        """Return the places of the keys that were granted: a stage may keep other keys, such as places in a queue."""
        return {held.key for held in self.held} or set(range(len(self.keys)))

    @property
    def is_locked(self) -> bool:
        """Return whether a request ever held a lock. Without one no key is named, or the judge found that nothing is locked."""
        return any(held.key != NEVER for held in self.held) and Mechanism.NO_LOCK not in self.mechanisms

    @property
    def is_stuck(self) -> bool:
        """Return whether no request got the lock any more after the fault on which the picture opens."""
        return self.focus_fault != NEVER and self.faults[self.focus_fault].next_got == NEVER

    def lease(self, held: DrawnGrant) -> Life | None:
        """Return the life of a grant's key at the store; None if the evidence does not name it."""
        return self.lives[held.lease] if held.lease != NEVER else None

    def renews(self, renewal: Renewal) -> bool:
        """Return whether a command outside any request is about a lease. Others set up a client, such as the load of a script."""
        name = self.keys[renewal.key] if 0 <= renewal.key < len(self.keys) else ""
        return name not in NO_LEASE and "redis.call" not in name


def at_once(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return how many spans there are at once: pairs of a moment and the number from that moment on."""
    turns = Counter[int]()
    for since, until in spans:
        turns[since] += 1
        turns[until] -= 1
    moments = sorted(at for at, turn in turns.items() if turn)
    return list(zip(moments, accumulate(turns[at] for at in moments), strict=True))


SHORTEST_FAULT_US = 10_000  # a fault that is over at once, such as an exception or a lost reply, has no duration to report


def began(picture: Timeline, fault: DrawnFault, kind: Kind = Kind.FAULT) -> Happening:
    """Return that a fault began: in a request, as far as the evidence names it."""
    kind = kind if fault.request and fault.replica != NEVER else Kind.FAULT_ANYWHERE
    lasted = fault.back == NEVER and fault.recovered - fault.at >= SHORTEST_FAULT_US
    return Happening(
        kind,
        fault.at / 1000,
        fault.request,
        place=picture.replicas[fault.replica] if fault.replica != NEVER else "",
        fault=fault.kind,
        for_ms=(fault.recovered - fault.at) / 1000 if lasted else 0,
        locked=picture.is_locked,
    )
