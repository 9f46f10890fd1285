"""Define a lock: its promises, its grant, its one method, and the record that puts a stage on the ladder.

Only the standard library is used, so that all stages can be listed on a machine on which nothing is installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from app.shelf import plugins

LOCKS = "app.locks"  # the package of the stages
PART = re.compile(r"^\s*\*\*(.+?)\*\*(.*?)(?=^\s*\*\*.+?\*\*|\Z)", re.MULTILINE | re.DOTALL)  # part of a docstring
ITEM = re.compile(r"^\s*- ", re.MULTILINE)  # a bullet point of a part
Result = TypeVar("Result")


class Claim(Enum):
    """One promise that a stage can make; the value is the promise as a sentence.

    Each claim has its row in ``lab/judge/promises.py``, and a scenario that puts it under stress.
    """

    exclusive_in_process = "Two threads of one process are never inside the lock at the same time."
    exclusive = "Two requests are never inside the lock at the same time, whichever replicas serve them."
    acquires_atomically = "If anything goes wrong during the acquire, the lock is free again within its TTL and half a second."
    held_to_the_end = "The holder keeps the lock until its work is done, however long the work takes."
    survives_a_failed_renewal = "The holder keeps the lock until its work is done, even if one of its renewals fails."
    held_past_an_explicit_lease = (
        "The holder keeps the lock until its work is done, even if the request has set the lease time itself."
    )
    releases_only_its_own = "A release frees the releaser's own lock, and never the lock of another holder."
    releases_atomically = "The lock cannot pass to another holder in the middle of a release."
    counts_once = "One request does its work once, however often it had to retry."
    serves_most_requests = (
        "If nothing fails, the work fits into the TTL and requests wait up to ten seconds, "
        "at least half of them get the lock and do their work."
    )
    survives_a_freeze = "A holder that was stopped in its work for longer than the TTL destroys no increment when it resumes."
    survives_a_late_freeze = (
        "A holder that was stopped between its last check of the lock and its write, for longer than the TTL, "
        "destroys no increment."
    )
    survives_a_delayed_write = (
        "A write that the network delays, and that arrives after its sender has given it up, destroys no increment."
    )
    all_or_nothing = (
        "Work of two writes is done as a whole or not at all, even if its holder is stopped between them for longer than the TTL."
    )
    fence_outlives_restart = "The resource accepts the holders that get the lock after its store came back without its data."
    answers_a_try_at_once = "A request that does not want to wait gets its answer at once when the lock is held."
    survives_failover = (
        "No increment is destroyed when a standby takes the place of the lock's store, which has died or was only cut off."
    )
    survives_amnesia = "No increment is destroyed when one of the lock's stores comes back without its data."
    survives_delayed_amnesia = (
        "No increment is destroyed when one of the lock's stores comes back without its data, but only after the TTL."
    )
    survives_clock_jump = "No increment is destroyed when the clocks of the lock's stores jump ahead."
    available_with_a_node_down = "Requests still get the lock when one of its stores is down."
    available_with_two_nodes_down = "Requests still get the lock when two of its five stores do not answer."
    refuses_without_majority = "No request gets the lock while most of its stores are down."
    survives_a_slow_acquire = "A holder whose acquire took longer than the TTL destroys no increment."
    stops_when_lost = "When the store does not answer for longer than the TTL, the holder destroys no increment."
    survives_a_lost_reply = "A reply that is lost on its way locks no request out."
    freed_after_a_failed_release = (
        "When a release fails and never reaches the store, the lock is free again within its TTL and half a second."
    )
    freed_after_a_lost_release = (
        "When the reply to a release is lost, the lock is free all the same, long before its TTL is over."
    )
    reenters_only_its_own = (
        "A request re-enters only a lock that it holds itself, and never one that a failed request left behind."
    )
    survives_store_restart = (
        "No increment is destroyed when the lock's store crashes or loses power, "
        "and comes back without its data, or without its last changes."
    )
    survives_persisted_restart = (
        "No increment is destroyed when the lock's store, which syncs every change to disk before it answers, "
        "crashes or loses power, and is started again."
    )
    survives_session_loss = "No increment is destroyed when the store ends the holder's session during the work."
    waiters_may_leave = "A waiter that gives up does not keep the waiters behind it from the lock."
    freed_after_crash = "When the holder's process dies, the lock is free again within its TTL and half a second."
    freed_with_a_clock_behind = (
        "When the holder's process dies, the lock is free again within its TTL and half a second, "
        "even if the clocks of the lock's stores jump back."
    )
    freed_after_failure = "When the work fails with an exception, the lock is free again at once: within a third of its TTL."
    freed_after_hang = "When the holder's thread hangs in a living process, the lock is free again within twice its TTL."
    reentrant = "A holder that acquires its own lock again gets it."
    breaks_deadlock = (
        "Two holders that each wait for the other's lock get out of the deadlock within twice the TTL and half a second."
    )
    prompt_handover = "A lock that is free is granted to a waiter at once."
    loses_no_wakeup = "A waiter wakes up even if the lock was released between its look at the lock and its wait."
    fair = "Requests get the lock in the order in which they ask, whichever replicas serve them."
    fair_in_process = "Requests of one replica get the lock in the order in which they ask."


def claims(names: str) -> frozenset[Claim]:
    """Return the claims of these names, which are separated by white space. Raises KeyError for an unknown name."""
    return frozenset(Claim[name] for name in names.split())


class NotAcquired(Exception):  # noqa: N818 - the field's word; it is an answer, not an error
    """The lock was not granted within the time that the request was ready to wait; the work was not done."""

    def __init__(self, key: str, wait_ms: int) -> None:
        super().__init__(f"{key} was not free within {wait_ms} ms")
        self.key = key
        self.holding = ""  # the key that the request held meanwhile, if it is known


class Abandoned(Exception):  # noqa: N818 - as above
    """The holder found before its write that it no longer held the lock, and stopped."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} was no longer held when the work was about to write")


class Refused(Exception):  # noqa: N818 - as above
    """The resource did not accept the write, and nothing was written. The message gives the resource's reason."""


class NotOwner(Exception):  # noqa: N818 - as above
    """A release found that the releaser no longer held the lock; the work had been done by then."""

    def __init__(self, key: str, owner: str) -> None:
        super().__init__(f"{owner} released {key} but did not hold it")


@dataclass(frozen=True, slots=True)
class Grant:
    """The grant of a lock: its holder gets it from the lock, and hands it to the resource with each read and write."""

    # the key that was locked; empty if nothing was locked
    key: str
    # a number that only grows from grant to grant; 0 if the stage has none
    fence: int = 0
    # the holder's name at the lock's store, unique among holders; empty if the resource does not need it
    owner: str = ""
    # asks the lock whether the grant is still valid; a stage that cannot know answers yes
    still_mine: Callable[[], bool] = lambda: True


Work = Callable[[Grant], Result]


class Lock(Protocol):
    """The class of a stage; one object a request. All stages have the same constructor, so that a flag can choose one."""

    def __init__(self, store: Any, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        """Take the arguments, and send nothing yet.

        ``store`` is the client of the stage's store: ``app/stores`` has the calls of each. ``key`` is the key to lock,
        ``ttl_ms`` its time to live, ``wait_ms`` how long to wait for it, ``retry_ms`` how long to sleep between two tries.
        """

    def run(self, work: Work[Result]) -> Result:
        """Acquire the lock, do the work, release the lock, and return the result of the work.

        Raises NotAcquired if the lock was not granted in time (the work was not done), NotOwner if the release found that the
        lock was lost (the work was done).
        """


class NotInstalled(ImportError):  # noqa: N818 - a state of the packages
    """The packages of a stage's library are not here. The message says how to install them."""


@dataclass(frozen=True)
class Stage:
    """One way to lock. This record puts a file on the ladder.

    A stage states its promises in one of two ways. With ``claims`` it lists all of them, as a lock of your own does. With
    ``gains`` and ``loses`` it lists the differences from the stage that it ``follows``, and ``claims`` is filled in.
    ``dataclasses.replace`` keeps the claims unless it is given other claims or new ``gains``.
    """

    # the class in the file, which is called Lock in every stage; None if a worker holds the locks
    lock: type[Lock] = None  # type: ignore[assignment] # it is read only if the stage has no worker
    # the stage whose problem this stage solves; None at the beginning of the ladder
    follows: str | None = None
    # the store of the lock, a file in app/stores; None if the lock needs nothing outside the process
    store: str | None = None
    # the promises that the stage makes
    claims: frozenset[Claim] = frozenset()
    # the names of the promises that this stage makes and the stage before does not; and the reverse; "" for none
    gains: InitVar[str | None] = None
    loses: InitVar[str | None] = None
    # how the work reaches the counter, a file in app/resources
    resource: str = "read_then_write"
    # the time to live that the documents give; None if the lock has none
    ttl_ms: int | None = None
    # the TTL must be a multiple of this: the store or its client knows no finer unit
    ttl_step_ms: int = 1
    # whether the lock has ttl_ms in all runs, because the TTL is in its code
    has_fixed_ttl: bool = False
    # whether the constructor takes ``lease_ms``, an explicit lease that is never renewed: such scenarios are for this stage
    lease: bool = False
    # whether a waiter can miss its wake-up, and sleep on: then the results of most scenarios depend on chance
    waiters_may_sleep_on: bool = False
    # in place of ``lock``: the command of a worker, a program in any language that holds the locks (docs/worker.md)
    worker: tuple[str, ...] = ()
    # how many lanes one worker serves, 1 if its language does one thing at a time; 0 for all
    worker_lanes: int = 0
    # whether each request reaches the store by ports of its own: only then the lab sees a client other than redis-py
    by_lane: bool = False
    # the key that the worker's library uses at the store: ``{key}`` stands for the key that it is given
    key: str = "{key}"
    # the library of the lock, and its version, for the record of a run; empty if the lock is written in the file
    library: str = ""
    # the environment with the library's packages (``app/foreign/library.py``); empty if it is the lab's own
    environment: str = ""
    # the file's name without ``.py``; filled in when the file is read
    name: str = ""
    # how another process finds the stage: its name, or the path of a file outside the package; filled in
    lookup: str = ""
    # the file that the stage was read from; filled in
    path: Path | None = None
    # the parts of the file's docstring; filled in
    story: StageStory = field(default_factory=lambda: StageStory("", "", "", "", (), ()))

    def __post_init__(self, gains: str | None, loses: str | None) -> None:
        """Compute the claims from ``gains`` and ``loses``, if given. Raises ValueError; KeyError for an unknown claim."""
        if isinstance(listed := cast(object, self.worker), list):
            object.__setattr__(self, "worker", tuple(listed))
        if gains is not None or loses is not None:
            object.__setattr__(self, "claims", _changed(self.follows, self.claims, claims(gains or ""), claims(loses or "")))


def _changed(follows: str | None, listed: frozenset[Claim], gained: frozenset[Claim], lost: frozenset[Claim]) -> frozenset[Claim]:
    """Return the claims of the stage that is followed, without the lost ones and with the gained ones. Raises ValueError."""
    if follows not in plugins.names(LOCKS):  # app/shelf/stage_check.py refuses the name
        return gained
    before: frozenset[Claim] = plugins.file(LOCKS, follows).STAGE.claims
    if listed not in (frozenset(), before):  # after dataclasses.replace, ``claims`` has the claims of the stage before
        raise ValueError("give either all claims in claims, or the changes in gains and loses")
    return before - lost | gained


@dataclass(frozen=True)
class StageStory:
    """The parts of a stage's docstring, as text."""

    # the first line: the stage in one sentence
    title: str
    # the problem that the stage solves: one item of the predecessor's ``Still``, word for word
    problem: str
    # how the stage solves it
    idea: str
    # the text that published the idea; empty if none did
    source: str
    # the problems that remain
    still: tuple[str, ...]
    # the commands that show them
    see_it: tuple[str, ...]

    @staticmethod
    @cache  # every list of the stages reads all of their docstrings
    def parse(docstring: str) -> StageStory:
        """Read the parts; each starts a line with its name in bold. A missing part is empty."""
        parts = dict(PART.findall(docstring))

        def items(name: str) -> tuple[str, ...]:
            return tuple(" ".join(text.split()) for text in ITEM.split(parts.get(name, "")) if text.strip())

        return StageStory(
            title=docstring.strip().partition("\n")[0],
            problem=" ".join(parts.get("Problem", "").split()),
            idea=" ".join(parts.get("Idea", "").split()),
            source=" ".join(parts.get("Source", "").split()),
            still=items("Still"),
            see_it=tuple(line.strip("`") for line in items("See it")),
        )
