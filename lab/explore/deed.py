"""What an event does, as a part of a sentence: "gets the lock", "writes 1 over B’s 1"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lab.explore import vote_deed
from lab.explore.event import CHOICE, CLOCK, CRASH, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, RESTART, RESUME, letter_of
from lab.explore.ghosts import Ghosts, Written
from lab.explore.operation import COUNTER
from lab.explore.rules import LOCKED_OUT, RENEWED_FOR_NOBODY
from lab.explore.server_table import Contents, Key
from lab.explore.state import Move, State
from lab.explore.world import World

DONE_TO = {PAUSE: "is paused", RESUME: "is resumed", CRASH: "is killed"}
LOOKS = (b"GET", b"HGET", b"HEXISTS", b"EXISTS", b"TTL", b"PTTL", b"HGETALL", b"LRANGE")
ASKS = (b"SET", b"SETNX", b"HSETNX")
OF_A_CLIENT = "a client"
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

    @property
    def client(self) -> int:
        return self.move.event.client

    @property
    def ghosts(self) -> tuple[Ghosts, Ghosts]:
        return self.before.ghosts, self.move.state.ghosts

    def lock_keys(self) -> tuple[dict[bytes, Key], dict[bytes, Key]]:
        """Return the keys of the lock before and after, by name."""
        known = self.world.known
        return _named(self.world.lock.contents[self.before.lock], known), _named(
            self.world.lock.contents[self.move.state.lock], known
        )


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
    before, after = (seen.world.node(state, seen.client).ended for state in (seen.before, seen.move.state))
    failed = f"its request fails ({after})" if after not in ("ok", before) else ""
    return ", and ".join(part for part in (words, failed) if part)


def _time(seen: Seen) -> str:
    before, after = seen.lock_keys()
    owners = [seen.before.ghosts.owner(name) for name in before if name not in after]
    what, expire = ("lock", "expires") if seen.world.program.votes.servers == 1 else ("votes", "expire")
    names = dict.fromkeys(f"{letter_of(owner)}’s {what}" for owner in owners if owner is not None)
    return f"at {seconds(seen.move.state.now_ms)}, {' and '.join(names)} {expire}" if names else ""


def seconds(ms: int) -> str:
    """Return a time in seconds, with a space at which no line breaks."""
    return f"{ms / 1000:g}\u00a0s"


def _of_client(seen: Seen) -> str:
    command, kind = seen.move.command, seen.move.event.kind
    if command is None:
        return "hears of a release"
    if kind is LOST_COMMAND:
        return "sends a command to the lock’s store, and the command is lost"
    words = _at_the_counter(seen) if command.server == COUNTER else _at_the_lock(seen)
    if kind is LOST_REPLY:
        return f"{words or 'sends a command'}, and the reply is lost"
    if kind is RESEND and words == SETS_KEY:
        return f"{words}, sends the command again because the reply is lost, and is refused by its own key"
    if kind is RESEND:
        return f"{words or 'sends a command'}, and sends the command again, because the reply is lost"
    return words


def _is_at_servers(seen: Seen) -> bool:
    """Return whether the event is at one of several servers, or at all of them."""
    event = seen.move.event
    return event.node > 0 or (event.kind in vote_deed.AT_ALL and seen.world.program.votes.servers > 1)


def _at_servers(seen: Seen) -> str:
    event = seen.move.event
    return vote_deed.words(_vote(seen)) if event.node else vote_deed.AT_ALL[event.kind]


def _vote(seen: Seen) -> vote_deed.Vote:
    """Return what an event at one of several servers has changed there."""
    event, (old, new), (before, after) = seen.move.event, seen.lock_keys(), seen.ghosts
    names = [name for name in seen.world.known if seen.world.program.votes.server_of(name) == event.node]
    name = next((one for one in names if one in old or one in new), b"")
    return vote_deed.Vote(
        event,
        before.owner(name) if name in old else None,
        after.owner(name) if name in new else None,
        renewed=name in old and name in new and new[name].ttl_ms > old[name].ttl_ms,
        granted=before.holds[seen.client] is None and after.holds[seen.client] is not None,
        asks=seen.world.waits(seen.before, seen.client) and not before.writes[seen.client] and not _releases(seen),
        has_worked=before.writes[seen.client] > 0,
    )


def _releases(seen: Seen) -> bool:
    """Return whether the command takes back what an earlier command of the same try has got."""
    command = seen.move.command
    return command is None or command.words[0].upper().startswith((b"EVAL", b"DEL", b"UNLINK"))


def _at_the_counter(seen: Seen) -> str:
    before, after = seen.ghosts
    client = seen.client
    if after.writes[client] > before.writes[client]:
        victim = _overwritten(before.written, after.written)
        lost = seen.counted_before - seen.counted + 1
        over = f" over {letter_of(victim.client)}’s {seen.counted_before}" if lost > 0 and victim else ""
        return f"writes {seen.counted}{over}"
    if seen.world.node(seen.before, client).writing:
        return "is refused by the counter"
    return f"reads {seen.counted_before}"


def _overwritten(before: tuple[Written, ...], after: tuple[Written, ...]) -> Written | None:
    return next((one for one in before if one not in after), None) or next(iter(before), None)


def _at_the_lock(seen: Seen) -> str:
    client = seen.client
    (old, new), (before, after) = seen.lock_keys(), seen.ghosts
    for name in old.keys() - new.keys():
        owner = before.owner(name)
        return "releases the lock" if owner in (client, None) else f"deletes {letter_of(owner or 0)}’s lock"
    if before.holds[client] is None and after.holds[client] is not None:
        return _granted(seen, old, new)
    if new.keys() - old.keys():
        return SETS_KEY
    for name in old:
        if new[name].ttl_ms > old[name].ttl_ms:
            return f"renews {_whose(after.owner(name), client)}"
    return _no_change(seen, old)


def _granted(seen: Seen, old: dict[bytes, Key], new: dict[bytes, Key]) -> str:
    before, after = seen.ghosts
    if not new:
        return "begins its work without the lock"
    if not new.keys() - old.keys() and before.owner(next(iter(new))) == seen.client:
        return BEGINS  # it has the key since another command
    fence = f" with fence {after.fence}" if after.fence > before.fence else ""
    return f"{GETS}{fence}"


def _no_change(seen: Seen, keys: dict[bytes, Key]) -> str:
    client, command = seen.client, seen.move.command
    owner = next((seen.before.ghosts.owner(name) for name in keys), None)
    if seen.world.waits(seen.before, client) and not seen.before.ghosts.writes[client]:
        return WAITS if owner not in (None, client) else ""
    if command is not None and command.words[0].upper() in ASKS and owner not in (None, client):
        return WAITS  # for its next turn: a request may acquire more than once
    if command is not None and command.words[0].upper() in LOOKS:
        return f"sees that the lock is {'free' if not keys else 'its own' if owner == client else f'{letter_of(owner or 0)}’s'}"
    if owner == client and seen.before.ghosts.writes[client] and not seen.move.event.thread:
        return "leaves its lock in place"
    return "" if owner in (None, client) else f"leaves {letter_of(owner or 0)}’s lock alone"


def _whose(owner: int | None, client: int) -> str:
    return "its lock" if owner in (None, client) else f"{letter_of(owner or 0)}’s lock"


def _broken(seen: Seen) -> Iterable[str]:
    for finding in seen.move.found:
        yield _readable(seen, finding.mechanism)


def _readable(seen: Seen, mechanism: str) -> str:
    """Return how a claim breaks, with the letters of the clients where they are known."""
    if mechanism.startswith("an increment was lost"):
        return _loss(seen, mechanism.partition(f": {OF_A_CLIENT} worked ")[2])
    waiting = [letter_of(one) for one in range(len(seen.before.nodes)) if seen.world.waits(seen.move.state, one)]
    if mechanism == LOCKED_OUT and waiting:  # it is over: the key has expired
        return f"{' and '.join(waiting)} waited for a lock that nobody used"
    if mechanism.startswith("a request waits") and waiting:
        return mechanism.replace("a request waits", " and ".join(waiting) + (" waits" if len(waiting) == 1 else " wait"), 1)
    if seen.client < 0:
        return mechanism
    return _of_this_client(seen, letter_of(seen.client), mechanism)


def _loss(seen: Seen, why: str) -> str:
    before, after = seen.ghosts
    lost = seen.counted_before - seen.counted + 1
    is_lost = "one increment is lost" if lost == 1 else f"{lost} increments are lost"
    victim, hold = _overwritten(before.written, after.written), before.holds[seen.client]
    mine = hold.at(seen.move.state.now_ms).why if hold is not None else why
    who = seen.client if mine == why or victim is None else victim.client
    if why:
        return f"{is_lost}: {letter_of(who)} worked {why}"
    if seen.world.program.stage.store is None:
        return f"{is_lost}: each client held a lock that is only inside its own process"
    return f"{is_lost}: two holders had the lock at once"


def _of_this_client(seen: Seen, who: str, mechanism: str) -> str:
    if mechanism == "a release deleted the lock of another holder":
        old, new = seen.lock_keys()
        owner = next((seen.before.ghosts.owner(name) for name in old if name not in new), None)
        return f"{who} deletes {letter_of(owner or 0)}’s lock"
    if mechanism == RENEWED_FOR_NOBODY:
        return f"{who}’s lock is renewed, although {who}’s request is over"
    if mechanism == "a fence did not grow":
        return f"{who} gets no higher fence than {seen.before.ghosts.fence}"
    return mechanism.replace("a request did", f"{who} did").replace(OF_A_CLIENT, who, 1)
