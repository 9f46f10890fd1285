"""What an event does, as a part of a sentence: "gets the lock", "writes 1 over B’s 1"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lab.explore.code.operation import LOCK
from lab.explore.search.event import (
    CHOICE,
    CLOCK,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    letter_of,
)
from lab.explore.search.ghosts import ASKS, Ghosts
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.state import Move, State
from lab.explore.search.world import World
from lab.explore.store.real_redis import Contents, Key
from lab.explore.story import vote_deed
from lab.explore.story.words import of_finding

DONE_TO = {PAUSE: "is paused", RESUME: "is resumed", CRASH: "is killed"}
LOOKS = (b"GET", b"HGET", b"HEXISTS", b"EXISTS", b"TTL", b"PTTL", b"HGETALL", b"LRANGE")
ASKS_FOR_IT = (b"SET", b"SETNX", b"HSETNX")
WAITS = "waits for the lock"
GETS, BEGINS, SETS_KEY = "gets the lock", "begins its work", "sets the key of the lock"


class Seen(NamedTuple):
    """One event: where it began, and where it led."""

    world: World
    before: State
    move: Move
    # what the counter read before and after
    counted_before: int
    counted: int
    # the names of the lock's keys
    names: frozenset[bytes]
    # who made each of them that is there, before and after
    owned_before: Mapping[bytes, int]
    owned: Mapping[bytes, int]
    # the client that wrote last, before the event; -1 without one
    wrote_last: int = -1

    @property
    def client(self) -> int:
        return self.move.event.client

    @property
    def ghosts(self) -> tuple[Ghosts, Ghosts]:
        return self.before.ghosts, self.move.state.ghosts

    def lock_keys(self) -> tuple[dict[bytes, Key], dict[bytes, Key]]:
        """Return the keys of the lock before and after, by name."""
        contents = self.world.lock.contents
        return _named(contents[self.before.lock], self.names), _named(contents[self.move.state.lock], self.names)

    @property
    def actor(self) -> int:
        """Return the request that the event is about."""
        requests, thread = self.world.about.at_once, self.move.event.thread
        return self.client * requests + (thread if thread < requests else 0)

    def asks(self) -> bool:
        """Return whether the request waits for the lock before the event."""
        return self.ghosts[0].phases[self.actor] == ASKS


def _named(contents: Contents, known: Iterable[bytes]) -> dict[bytes, Key]:
    return {key.name: key for key in contents if key.name in known}


class Deed(NamedTuple):
    """What an event does, and what it breaks."""

    # begins with its verb where a client does it, and is a sentence otherwise; empty where it is not worth a word
    words: str
    breaks: tuple[str, ...] = ()


def of_event(seen: Seen) -> Deed:
    """Return what an event does, in words."""
    return Deed(_words(seen), tuple(dict.fromkeys(_broken(seen))))


def _words(seen: Seen) -> str:
    kind = seen.move.event.kind
    if kind in DONE_TO:
        return DONE_TO[kind]
    if kind is CHOICE:
        return f"draws the random number {seen.move.event.number}"
    if kind is CLOCK:
        return _time(seen)
    if kind is RESTART:
        node = seen.move.event.node
        return f"server {node} restarts without its data" if node else "the store restarts without its data"
    words = _at_servers(seen) if _is_at_servers(seen) else _of_client(seen)
    number = seen.actor % seen.world.about.at_once
    before, after = (seen.world.node(state, seen.client).ended[number] for state in (seen.before, seen.move.state))
    failed = f"its request fails ({after})" if after not in ("ok", before) else ""
    return ", and ".join(part for part in (words, failed) if part)


def _time(seen: Seen) -> str:
    before, after = seen.lock_keys()
    owners = [seen.owned_before.get(name) for name in before if name not in after]
    what, expire = ("lock", "expires") if seen.world.program.servers == 1 else ("votes", "expire")
    names = dict.fromkeys(f"{letter_of(owner)}’s {what}" for owner in owners if owner is not None)
    return f"at {seconds(seen.move.state.now_ms)}, {' and '.join(names)} {expire}" if names else ""


def seconds(ms: int) -> str:
    """Return a time in seconds, with a space at which no line breaks."""
    return f"{ms / 1000:g}\u00a0s"


def _of_client(seen: Seen) -> str:
    command, kind = seen.move.command, seen.move.event.kind
    if command is None:
        return "hears of a release" if seen.move.reply is not None else ""
    if kind in (FAILURE, LOST_COMMAND):
        return "fails in its work" if kind is FAILURE else "sends a command to the lock’s store, and the command is lost"
    words = _at_the_lock(seen) if command.server == LOCK else _at_the_counter(seen)
    if kind is LOST_REPLY:
        return f"{words or 'sends a command'}, and the reply is lost"
    if kind is not RESEND:
        return words
    if words == SETS_KEY:
        return f"{words}, sends the command again because the reply is lost, and is refused by its own key"
    return f"{words or 'sends a command'}, and sends the command again, because the reply is lost"


def _is_at_servers(seen: Seen) -> bool:
    """Return whether the event is at one of several servers, or at all of them."""
    event = seen.move.event
    return event.node > 0 or (event.kind in vote_deed.AT_ALL and seen.world.program.servers > 1)


def _at_servers(seen: Seen) -> str:
    event = seen.move.event
    return vote_deed.words(_vote(seen)) if event.node else vote_deed.AT_ALL[event.kind]


def _vote(seen: Seen) -> vote_deed.Vote:
    """Return what an event at one of several servers has changed there."""
    event, (old, new), (before, after) = seen.move.event, seen.lock_keys(), seen.ghosts
    names = [name for name in seen.names if name.endswith(b"@%d" % event.node)]
    name = next((one for one in names if one in old or one in new), b"")
    return vote_deed.Vote(
        event,
        seen.owned_before.get(name) if name in old else None,
        seen.owned.get(name) if name in new else None,
        renewed=name in old and name in new and new[name].ttl_ms > old[name].ttl_ms,
        granted=before.holds[seen.actor] is None and after.holds[seen.actor] is not None,
        asks=seen.asks() and not _releases(seen),
        has_worked=before.phases[seen.actor] > ASKS,
    )


def _releases(seen: Seen) -> bool:
    """Return whether the command takes back what an earlier command of the same try has got."""
    command = seen.move.command
    return command is None or command.words[0].startswith((b"EVAL", b"DEL", b"UNLINK"))


def _at_the_counter(seen: Seen) -> str:
    before, after = seen.ghosts
    wrote = after.writes[seen.actor] > before.writes[seen.actor] or after.served > before.served  # with its write, or after it
    if wrote or after.written != before.written:
        lost = seen.counted_before - seen.counted + 1
        over = f" over {letter_of(seen.wrote_last)}’s {seen.counted_before}" if lost > 0 and seen.wrote_last >= 0 else ""
        return f"writes {seen.counted}{over}"
    if seen.counted != seen.counted_before:
        return f"writes {seen.counted}"
    if seen.actor % seen.world.about.at_once in seen.world.node(seen.before, seen.client).writing:
        return "is refused by the counter"
    return f"reads {seen.counted_before}"


def _at_the_lock(seen: Seen) -> str:
    client = seen.client
    (old, new), (before, after) = seen.lock_keys(), seen.ghosts
    for name in old.keys() - new.keys():
        owner = seen.owned_before.get(name)
        return "releases the lock" if owner in (client, None) else f"deletes {letter_of(owner or 0)}’s lock"
    if before.holds[seen.actor] is None and after.holds[seen.actor] is not None:
        return _granted(seen, old, new)
    if new.keys() - old.keys():
        return SETS_KEY
    for name in old:
        if new[name].ttl_ms > old[name].ttl_ms:
            return f"renews {_whose(seen.owned.get(name), client)}"
    return _no_change(seen, old)


def _granted(seen: Seen, old: dict[bytes, Key], new: dict[bytes, Key]) -> str:
    before, after = seen.ghosts
    if not new:
        return "begins its work without the lock"
    if not new.keys() - old.keys() and seen.owned_before.get(next(iter(new))) == seen.client:
        return BEGINS  # it has the key since another command
    fence = f" with fence {after.fence}" if after.fence > before.fence else ""
    return f"{GETS}{fence}"


def _no_change(seen: Seen, keys: dict[bytes, Key]) -> str:
    client, command = seen.client, seen.move.command
    owner = next((seen.owned_before.get(name) for name in keys), None)
    if seen.asks():
        return WAITS if owner not in (None, client) else ""
    if command is not None and command.words[0] in ASKS_FOR_IT and owner not in (None, client):
        return WAITS  # for its next turn: a request may acquire more than once
    if command is not None and command.words[0] in LOOKS:
        return f"sees that the lock is {'free' if not keys else 'its own' if owner == client else f'{letter_of(owner or 0)}’s'}"
    if owner == client and seen.ghosts[0].phases[seen.actor] > ASKS and seen.move.event.own:
        return "leaves its lock in place"
    return "" if owner in (None, client) else f"leaves {letter_of(owner or 0)}’s lock alone"


def _whose(owner: int | None, client: int) -> str:
    return "its lock" if owner in (None, client) else f"{letter_of(owner or 0)}’s lock"


def _broken(seen: Seen) -> Iterable[str]:
    for finding in seen.move.found:
        yield _readable(seen, finding)


def _readable(seen: Seen, finding: Finding) -> str:
    """Return how a claim breaks, with the letters of the clients where they are known."""
    if finding.harm is Harm.LOST:
        return _loss(seen, finding)
    at_once = seen.world.about.at_once
    waiting = seen.world.waiting(seen.move.state) or seen.world.waiting(seen.before)
    letters = list(dict.fromkeys(letter_of(one // at_once) for one in waiting))
    if finding.harm not in SENTENCES or (finding.harm in OF_WAITERS and not letters):
        return of_finding(finding)
    return SENTENCES[finding.harm].format(
        waiters=" and ".join(letters),
        wait="waits" if len(letters) == 1 else "wait",
        actor=letter_of(max(seen.client, 0)),
        who=letter_of(finding.client // at_once if finding.client >= 0 else max(seen.client, 0)),
        fence=seen.ghosts[0].fence,
        error=finding.about,
    )


OF_WAITERS = (Harm.LOCKED, Harm.STUCK, Harm.ASLEEP)
SENTENCES = {
    Harm.LOCKED: "{waiters} waited for a lock that nobody used",
    Harm.STUCK: "{waiters} {wait} for ever",
    Harm.ASLEEP: "{waiters} {wait}, although the lock is free",
    Harm.THEFT: "{actor} deletes {who}’s lock",
    Harm.FOREIGN_RENEWAL: "{actor} renewed the lock of another holder",
    Harm.RENEWED_FOR_NOBODY: "{who}’s lock is renewed, although {who}’s request is over",
    Harm.FENCE: "{who} gets no higher fence than {fence}",
    Harm.TWICE: "{who} did its work twice",
    Harm.NOT_DONE: "{who}’s request is answered as if its work were done, and it was not",
    Harm.DONE_AND_REFUSED: "{who} is refused, and has done its work",
    Harm.FAILED: "{who}’s request fails, although nothing was injected: {error}",
}


def _loss(seen: Seen, finding: Finding) -> str:
    lost = seen.counted_before - seen.counted + 1
    is_lost = "one increment is lost" if lost == 1 else f"{lost} increments are lost"
    hold = seen.ghosts[0].holds[seen.actor]
    mine = hold.at(seen.move.state.now_ms).why if hold is not None else finding.why
    who = seen.client if mine == finding.why or seen.wrote_last < 0 else seen.wrote_last
    if finding.why:
        return f"{is_lost}: {letter_of(who)} worked {finding.why}"
    if seen.world.program.stage.store is None:
        return f"{is_lost}: each client held a lock that is only inside its own process"
    return f"{is_lost}: two holders had the lock at once"
