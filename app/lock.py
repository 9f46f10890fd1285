"""What a lock is: promises, a grant, one method, and the record that puts a stage on the ladder.

Standard library only, so that the whole shelf can be listed on a machine where nothing is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Claim(Enum):
    """One promise a stage can make; the value is the promise as a sentence.

    Each has a check of its name in ``lab/judge/checks`` and a scenario that puts it under stress.
    """

    exclusive_in_process = "No two threads of one process are inside at the same time."
    exclusive = "No two requests are inside at the same time, whichever replica serves them."
    acquires_atomically = "Whatever goes wrong while the lock is being got, it is free again within its TTL and half a second."
    held_to_the_end = "The lock is held until the work is done, however long the work takes."
    releases_only_its_own = "A release lets go of the releaser's own lock and never of another's."
    releases_atomically = "The lock cannot change hands in the middle of a release."
    counts_once = "One request does the work once, however often it had to retry."
    survives_a_freeze = "A holder that was stopped in its work, past its TTL, destroys nothing when it goes on."
    survives_a_late_freeze = (
        "A holder that was stopped, past its TTL, between its last look at the lock and its write destroys nothing."
    )
    all_or_nothing = "Work of two writes is done whole or not at all, though its holder was stopped, past its TTL, in between."
    fence_outlives_restart = "A lock that is granted after its store came back with nothing is accepted by the resource."
    answers_a_try_at_once = "Who does not want to wait is told at once that the lock is taken."
    survives_failover = "Nothing is destroyed when the lock's store dies and another takes its place."
    survives_amnesia = "Nothing is destroyed when one of the lock's stores comes back without its data."
    survives_persisted_amnesia = "Nothing is destroyed when one of the lock's stores comes back with what it kept on disk."
    survives_delayed_amnesia = (
        "Nothing is destroyed when one of the lock's stores comes back without its data, but after the TTL."
    )
    survives_clock_jump = "Nothing is destroyed when the clocks of the lock's stores leap."
    survives_clock_jump_of_two = "Nothing is destroyed when the clocks of two of the lock's five stores leap."
    available_with_a_node_down = "The lock can still be got when one of its stores is gone."
    available_with_two_nodes_down = "The lock can still be got when two of its five stores are silent."
    refuses_without_majority = "Nobody gets the lock when three of its five stores are gone."
    stops_when_lost = "When the store does not answer for longer than the TTL, the holder destroys nothing."
    survives_a_lost_reply = "An answer that gets lost on the way locks nobody out."
    survives_store_restart = "Nothing is destroyed when the lock's store, which keeps nothing on disk, is killed and comes back."
    survives_persisted_restart = (
        "Nothing is destroyed when the lock's store, which writes every change to disk, is killed and comes back."
    )
    survives_session_loss = "Nothing is destroyed when the holder's session at the lock's store ends while it is inside."
    freed_after_crash = "A lock whose holder's process has died is free again within its TTL and half a second."
    freed_after_thread_death = (
        "A lock whose holder's thread has died in a living process is free again within its TTL and half a second."
    )
    reentrant = "A holder that asks for its own lock again gets it."
    breaks_deadlock = "Two that each hold what the other wants get out of it within the TTL and half a second."
    prompt_handover = "A lock that is free and waited for is taken at once."
    fair = "Nobody is overtaken over and over by those who came later."


def claims(names: str) -> frozenset[Claim]:
    """The claims of these names, with white space between them. Raises KeyError for one that nobody knows."""
    return frozenset(Claim[name] for name in names.split())


class NotAcquired(Exception):  # noqa: N818 - the field's word; it is an answer, not an error
    """The lock was not got within the time the caller was ready to wait; the work was not done."""

    def __init__(self, key: str, wait_ms: int) -> None:
        super().__init__(f"{key} was not free within {wait_ms} ms")
        self.key = key
        self.wait_ms = wait_ms
        self.holding = ""  # what the caller held meanwhile, where it is known


class Abandoned(Exception):  # noqa: N818 - as above
    """The holder found that it no longer held the lock, and stopped before it wrote."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} was no longer held when the work was about to write")
        self.key = key


class Refused(Exception):  # noqa: N818 - as above
    """The resource did not take the write: nothing was written. The message says what it had seen."""


class NotOwner(Exception):  # noqa: N818 - as above
    """A release found that the lock was no longer the releaser's; the work had been done by then."""

    def __init__(self, key: str, owner: str) -> None:
        super().__init__(f"{owner} released {key} but did not hold it")
        self.key = key
        self.owner = owner


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Grant:
    """What a holder was given.

    key: what was locked; empty where nothing was. fence: a number that only grows, 0 where the stage has none.
    still_mine: asks the lock whether the grant still stands; a stage that cannot know says yes.
    """

    key: str
    fence: int = 0
    still_mine: Callable[[], bool] = _always


Work = Callable[[Grant], Result]
LEASE_GIVES_UP = frozenset({Claim.held_to_the_end})


class Lock(Protocol):
    """One object a request. The constructor is the same for every stage, so that a flag can choose between them."""

    def __init__(self, store: Any, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        """Take the store's client, the key to lock, its time to live, how long to wait, and how long to sleep between tries."""

    def run(self, work: Work[Result]) -> Result:
        """Get the lock, do the work, let go; return what the work returned.

        Raises NotAcquired when the lock was not got in time (the work was not done), NotOwner when it was no longer
        ours at the release (the work was done).
        """


@dataclass(frozen=True)
class Stage:
    """One way to lock, as the shelf lists it.

    lock: the class. follows: the stage whose problem it answers. store: what the lock talks to, None for nothing outside
    the process. resource: how the counter is reached (a name in ``app/counter.py``). ttl_ms: the documents' TTL, None
    where the lock has none. ttl_step_ms: what its TTLs are multiples of, where the store or its client knows no finer ones.
    lease: whether its constructor takes ``lease_ms``, an explicit lease time, which turns renewal off and with it every claim
    in LEASE_GIVES_UP. name and story are read from the file.
    """

    lock: type[Lock]
    follows: str | None = None
    store: str | None = None
    claims: frozenset[Claim] = frozenset()
    resource: str = "read_then_write"
    ttl_ms: int | None = None
    ttl_step_ms: int = 1
    lease: bool = False
    name: str = ""
    story: Story = field(default_factory=lambda: Story("", "", (), ()))


@dataclass(frozen=True)
class Story:
    """The four parts of a stage's docstring, as text: what it answers, how, what is still wrong, and how to see it."""

    problem: str
    idea: str
    still: tuple[str, ...]
    see_it: tuple[str, ...]

    @staticmethod
    def parse(docstring: str) -> Story:
        """Read the parts; each starts a line with its bold name. Missing parts come out empty (the house test refuses them)."""
        parts: dict[str, list[str]] = {}
        name = ""
        for line in docstring.splitlines():
            text = line.strip()
            if text.startswith("**") and "**" in text[2:]:
                name, _, text = text[2:].partition("**")
                parts[name] = []
            if name and text.strip():
                parts[name].append(text.strip())
        return Story(
            problem=" ".join(parts.get("Problem", [])),
            idea=" ".join(parts.get("Idea", [])),
            still=_items(parts.get("Still", [])),
            see_it=tuple(line.strip("`") for line in _items(parts.get("See it", []))),
        )


def _items(lines: list[str]) -> tuple[str, ...]:
    """Bullet points; a line without a dash goes on with the point before it."""
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:].strip())
        elif items:
            items[-1] += " " + line
        else:
            items.append(line)
    return tuple(items)
