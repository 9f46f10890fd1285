"""Hold the findings: everything that checks, verdicts and charts need to know about a history.

While the judge reads the journals, it packs all that a picture can show. After the verdict, only the needed part is unpacked.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from app.journal import CONNECT, GaveUp, Renewed
from lab.evidence.history import Outcome
from lab.evidence.loss import Loss, Mechanism
from lab.evidence.run_record import Damage
from lab.judge.fact import Fact, HalfDone, Idle, Overtaken, Reentered, RefusedAndWritten, Repeated, Unwritten, Wait
from lab.judge.faults import FaultOutcome, Onlookers
from lab.judge.grant import Grant, GrantRecord
from lab.judge.losses import Account, Conflicts, Losses, net_losses
from lab.judge.run_facts import RunFacts
from lab.judge.stalls import Stalls

CHUNK = 500  # items that are packed together
FASTEST = 1  # the fastest level of zlib

RECORD = attrgetter(*GrantRecord.__struct_fields__)

Item = TypeVar("Item")


class PackedLog(Generic[Item]):
    """Keep items of one type packed: a grant takes some 60 bytes. Each reading unpacks them again."""

    def __init__(self, kind: Any, when: Callable[[Item], int]) -> None:
        """Take ``kind``, the type of an item, and ``when``, which returns the time of an item in nanoseconds."""
        self.number = 0
        self.when = when
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(list[kind]).decode
        self._packed: list[bytes] = []
        self._fresh: list[object] = []

    def add(self, item: object) -> None:
        """Add an item: a record of this type, or its fields."""
        self.number += 1
        self._fresh.append(item)
        if len(self._fresh) == CHUNK:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(zlib.compress(self._encode(self._fresh), FASTEST))
        self._fresh = []

    def __iter__(self) -> Iterator[Item]:
        self._pack()
        return chain.from_iterable(self._decode(zlib.decompress(packed)) for packed in self._packed)

    def around(self, at_ns: int, limit: int) -> list[Item]:
        """Return the items around a moment in the order of time: at most ``limit``, half of them before it."""
        before = nlargest(limit // 2, (item for item in self if self.when(item) < at_ns), key=self.when)
        after = nsmallest(limit - len(before), (item for item in self if self.when(item) >= at_ns), key=self.when)
        return sorted(before, key=self.when) + after


class Trace:
    """Keep the grants of a run, the requests that gave up, and the renewals, as the journals record them; and each loss."""

    def __init__(self) -> None:
        self.grants: PackedLog[GrantRecord] = PackedLog(GrantRecord, attrgetter("got_ns"))
        self.waits: PackedLog[tuple[str, GaveUp]] = PackedLog(tuple[str, GaveUp], _moment)
        self.renewals: PackedLog[tuple[str, Renewed]] = PackedLog(tuple[str, Renewed], _moment)
        self.losses: PackedLog[Loss] = PackedLog(Loss, attrgetter("culprit.wrote_ns"))

    def released(self, grant: Grant) -> None:
        """Take a grant whose release is on record."""
        self.grants.add(RECORD(grant))

    def renewed(self, replica: str, event: Renewed) -> None:
        """Take a command outside any request. A command that only connects renews no lease."""
        if event.command != CONNECT:
            self.renewals.add((replica, event))

    def close(self, still_open: Iterable[Grant]) -> None:
        """Take the grants without a release: all journals have been read."""
        for grant in still_open:
            self.grants.add(RECORD(grant))


def _moment(item: tuple[str, GaveUp | Renewed]) -> int:
    return item[1].at_ns


@dataclass(frozen=True)
class Blocked:
    """Waiters that did not get a free lock, because waiters before them had given up."""

    # the replica of the waiters; empty if they are of all replicas
    replica: str
    # for how many milliseconds they waited for the free lock
    ms: float
    # whether none of them got it before the run was over
    never: bool
    # the first waits
    waits: list[Wait]


@dataclass
class Findings:
    """Hold all results of reading a history. Times are CLOCK_MONOTONIC in nanoseconds."""

    # the facts of the run that were known before its history was read
    run: RunFacts = field(default_factory=lambda: RunFacts(has_store=True, final=None))
    # requests by outcome
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    acknowledged_by_replica: Counter[str] = field(default_factory=Counter)
    # when the first request started, and when the last one ended
    origin_ns: int = 0
    end_ns: int = 0
    # the sum of all writes
    account: Account = field(default_factory=lambda: Account(0, 0, 0, 0))
    # destroyed increments, by mechanism
    losses: dict[Mechanism, Losses] = field(default_factory=dict)
    # overlaps that break a promise by themselves, by mechanism
    overlaps: dict[Mechanism, Conflicts] = field(default_factory=dict)
    # writes beyond one for each request
    duplicated: int = 0
    # the requests that wrote most often, if they wrote more than once
    repeated: list[Repeated] = field(default_factory=list)
    # work of two writes whose second write was not done, or too late: the first examples
    half_done: list[HalfDone] = field(default_factory=list)
    # how many requests were acknowledged, although no replica wrote for them; and the first such requests
    unwritten: int = 0
    first_unwritten: list[Unwritten] = field(default_factory=list)
    # how many requests were refused, although a replica wrote for them; and the first such requests
    refused_and_written: int = 0
    first_refused_and_written: list[RefusedAndWritten] = field(default_factory=list)
    # why ``losses.jsonl`` could not be written; empty if it was
    losses_unwritten: str = ""
    # requests on which the load's record and the journals disagree: the first examples
    mismatches: list[Fact] = field(default_factory=list)
    # evidence that is missing from the run folder, or cannot be true
    damage: list[Damage] = field(default_factory=list)
    # files that changed after the run, or were added: they were not read
    left_out: frozenset[str] = frozenset()
    # when a replica did not run although no fault stopped it, and how long each replica waited for a processor
    stalls: Stalls = field(default_factory=Stalls)
    # whether a request was granted a lock: a stage without a lock names no key
    locked: bool = False
    # the key of grants with conflicts, if the store never reported it but reported others; the keys that it did report
    strange_key: str = ""
    known_keys: list[str] = field(default_factory=list)
    # commands outside any request that renew a lock
    renewals: int = 0
    # requests that got no lock
    gave_up: int = 0
    # by replica: when its processes started
    started_ns: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    # why requests gave up, and how often each: the first few reasons
    whys: Counter[str] = field(default_factory=Counter)
    # commands that the replicas sent to the lock's store to acquire and release; a script is one command
    sent: int = 0
    # releases that deleted another holder's lock
    thefts: int = 0
    # grants of a lock taken twice whose outer release found nothing, before their lease can have ended; the first of them
    freed_early: int = 0
    freed_first: Grant | None = None
    # requests that entered a lock that a failed request had left behind: examples; ``measures["reentered"]`` counts them all
    reentered: list[Reentered] = field(default_factory=list)
    # the measures that a scenario's danger can name (lab/scenario/requirements.py), by name
    measures: Counter[str] = field(default_factory=Counter)
    # the faults in order of time, and their consequences
    faults: list[FaultOutcome] = field(default_factory=list)
    # for each fault, the requests that wanted the lock after it
    onlookers: list[Onlookers] = field(default_factory=list)
    # if the scenario asks for it: each time in which the lock was free, from a release with waiters to the next grant, in order
    idle_times: list[Idle] = field(default_factory=list)
    # if the scenario tests fairness: how often each request was overtaken; the request that was overtaken most often
    overtakes: array[int] = field(default_factory=lambda: array("q"))
    overtaken: Overtaken | None = None
    # if the scenario tests it: waiters that did not get the free lock, because waiters before them had given up
    blocked: list[Blocked] = field(default_factory=list)
    # the wait of each grant; the longest of them
    waits_ns: array[int] = field(default_factory=lambda: array("q"))
    longest: Wait | None = None
    # the sum of the times for which holders that wrote have worked, in nanoseconds
    worked_ns: int = 0
    # if requests take their lock twice: how long each waited for the lock that it held; the longest of these waits
    own_waits_ns: array[int] = field(default_factory=lambda: array("q"))
    longest_own: Wait | None = None
    # if the scenario tests the answer to a try: the wait of each request that was never answered
    unanswered_ns: array[int] = field(default_factory=lambda: array("q"))
    # unknown requests that were answered, with an error; a request without an answer may have been ended with the load
    unclear_answers: int = 0
    # the wait of each request that gave up; the first examples
    in_vain_ns: array[int] = field(default_factory=lambda: array("q"))
    in_vain: list[Wait] = field(default_factory=list)
    # the trace for pictures; and the time of the journals' last event
    trace: Trace = field(default_factory=Trace)
    last_ns: int = 0

    @property
    def requests(self) -> int:
        """Return how many requests the load has on record."""
        return self.outcomes.total()

    @property
    def net_losses(self) -> dict[Mechanism, int]:
        """Return how many of the lost increments each mechanism took; the shares add up to the increments that are lost."""
        return net_losses(max(0, self.account.lost), self.losses)

    @property
    def has_lock(self) -> bool:
        """Return whether the stage locks anything: a request named the key of its lock, and the judge found one."""
        return self.locked and not {Mechanism.NO_LOCK} & {*self.losses, *self.overlaps}

    @property
    def is_overloaded(self) -> bool:
        """Return whether holders worked for most of the time: then any lock makes requests wait, and refuses some."""
        return 2e-9 * self.worked_ns > self.duration_s > 0

    @property
    def duration_s(self) -> float:
        """Return the time from the first request's start to the last one's end."""
        return max(0, self.end_ns - self.origin_ns) / 1e9

    @property
    def is_never_written(self) -> bool:
        """Return whether acknowledged requests certainly wrote nothing: the values that were written add up without them."""
        return bool(self.unwritten) and not self.account.applied_unknowns and self._agrees

    @property
    def is_never_refused(self) -> bool:
        """Return whether requests that were refused certainly wrote."""
        return bool(self.refused_and_written) and self._agrees

    @property
    def _agrees(self) -> bool:
        """Return whether the two accounts and the counter agree otherwise, and no evidence is damaged."""
        return not self.mismatches and not self.damage and not self.account.disagreement

    def measure_requests(self, replicas: Sequence[str]) -> None:
        """Measure how many requests got the lock and were acknowledged, and the least busy replica's share of them."""
        self.measures["turned_away"] = self.gave_up
        self.measures["tries"] = len(self.waits_ns) + self.gave_up
        if self.requests:
            answered = self.outcomes[Outcome.ACKNOWLEDGED] + self.outcomes[Outcome.SOLD_OUT]
            self.measures["served_percent"] = 100 * answered // self.requests
        if acknowledged := self.outcomes[Outcome.ACKNOWLEDGED]:
            least = min((self.acknowledged_by_replica[name] for name in replicas), default=0)
            self.measures["least_share_percent"] = 100 * least // acknowledged
            self.measures["least_of_even_share_percent"] = 100 * least * len(replicas) // acknowledged
