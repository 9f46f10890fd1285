"""What one event of a schedule does, and what it breaks: as happenings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lab.explore.code.operation import LOCK
from lab.explore.search import event as events
from lab.explore.search.event import CHOICE, CLOCK, FAILURE, LOST_COMMAND, LOST_REPLY, RESEND, RESTART, letter_of
from lab.explore.search.ghosts import ASKS, Ghosts
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.search.state import Move
from lab.explore.search.world import World
from lab.explore.store.real_redis import Contents, Key
from lab.story.happening import Happening, Kind

DONE_TO = {events.PAUSE: Kind.PAUSED, events.RESUME: Kind.RESUMED, events.CRASH: Kind.KILLED}
AT_ALL = {
    LOST_REPLY: Kind.ALL_REPLIES_LOST,
    LOST_COMMAND: Kind.ALL_COMMANDS_LOST,
    RESEND: Kind.ALL_SENT_AGAIN,
}
LOOKS = (b"GET", b"HGET", b"HEXISTS", b"EXISTS", b"TTL", b"PTTL", b"HGETALL", b"LRANGE")
ASKS_FOR_IT = (b"SET", b"SETNX", b"HSETNX")
OF_WAITERS = (Harm.LOCKED, Harm.STUCK, Harm.ASLEEP)
# the harms of which it is known who did it, and those of which it is known whom they are about
OF_ACTOR = (Harm.THEFT, Harm.FOREIGN_RENEWAL)
OF_CLIENT = (Harm.RENEWED_FOR_NOBODY, Harm.FENCE, Harm.TWICE, Harm.NOT_DONE, Harm.DONE_AND_REFUSED, Harm.FAILED)


class Seen(NamedTuple):
    """One event, and what is known about it."""

    world: World
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
        return self.move.before.ghosts, self.move.state.ghosts

    def lock_keys(self) -> tuple[dict[bytes, Key], dict[bytes, Key]]:
        """Return the keys of the lock before and after, by name."""
        contents = self.world.lock.contents
        return _named(contents[self.move.before.lock], self.names), _named(contents[self.move.state.lock], self.names)

    @property
    def actor(self) -> int:
        """Return the request that the event is about."""
        return self.world.actor_of(self.client, self.move.event.thread)

    @property
    def asks(self) -> bool:
        """Return whether the request waits for the lock before the event."""
        return self.ghosts[0].actors[self.actor].phase == ASKS

    @property
    def is_granted(self) -> bool:
        """Return whether the request has the lock since this event."""
        before, after = self.ghosts
        return before.actors[self.actor].hold is None and after.actors[self.actor].hold is not None

    def did(
        self, kind: Kind, *others: int | None, value: int = 0, over: int = 0, servers: tuple[int, ...] = (), code: str = ""
    ) -> Happening:
        """Return something that the event did. others: the clients that it is about besides."""
        actor, at_ms = letter_of(self.client) if self.client >= 0 else "", self.move.state.now_ms
        return Happening(kind, at_ms, actor, _letters(others), value=value, over=over, servers=servers, code=code)


def _named(contents: Contents, known: Iterable[bytes]) -> dict[bytes, Key]:
    return {key.name: key for key in contents if key.name in known}


def _letters(clients: Iterable[int | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(letter_of(one) for one in clients if one is not None))


def of_event(seen: Seen) -> tuple[Happening, ...]:
    """Return what an event does, in order; nothing where it is not worth a word."""
    event = seen.move.event
    if event.kind in DONE_TO:
        return (seen.did(DONE_TO[event.kind]),)
    if event.kind is CHOICE:
        return (seen.did(Kind.DREW, value=event.number),)
    if event.kind is CLOCK:
        return _expired(seen)
    if event.kind is RESTART:
        return (seen.did(Kind.SERVER_RESTARTED, servers=(event.node,)) if event.node else seen.did(Kind.STORE_RESTARTED),)
    at_all = not event.node and event.kind in AT_ALL and seen.world.program.servers > 1
    found = [seen.did(AT_ALL[event.kind])] if at_all else _at_a_server(seen) if event.node else _of_client(seen)
    number = seen.actor % seen.world.task.at_once
    before, after = (seen.world.node(state, seen.client).ended[number] for state in (seen.move.before, seen.move.state))
    failed = [seen.did(Kind.REQUEST_FAILED, code=after)] if after not in ("ok", before) and after else []
    return (*found, *failed)


def _expired(seen: Seen) -> tuple[Happening, ...]:
    before, after = seen.lock_keys()
    owners = [seen.owned_before.get(name) for name in before if name not in after]
    kind = Kind.LOCK_EXPIRED if seen.world.program.servers == 1 else Kind.VOTES_EXPIRED
    return (seen.did(kind, *owners),) if _letters(owners) else ()


def _of_client(seen: Seen) -> list[Happening]:
    command, kind = seen.move.command, seen.move.event.kind
    if command is None:
        return [seen.did(Kind.HEARD)] if seen.move.reply is not None else []
    if kind is FAILURE:
        return [seen.did(Kind.WORK_FAILED)]
    if kind is LOST_COMMAND:
        return [seen.did(Kind.SENT_TO_STORE), seen.did(Kind.COMMAND_LOST)]
    did = _at_the_lock(seen) if command.server == LOCK else _at_the_counter(seen)
    if kind is RESEND and did is not None and did.kind is Kind.KEY_SET:
        return [seen.did(Kind.KEY_SET_TWICE)]
    if kind in (LOST_REPLY, RESEND):
        then = Kind.REPLY_LOST if kind is LOST_REPLY else Kind.SENT_AGAIN
        return [did or seen.did(Kind.SENT), seen.did(then)]
    return [did] if did is not None else []


def _at_a_server(seen: Seen) -> list[Happening]:
    """Return what an event at one of several servers does there."""
    kind, servers = seen.move.event.kind, (seen.move.event.node,)
    did = [seen.did(Kind.SENT_TO_SERVER, servers=servers)]
    if kind is LOST_COMMAND:
        did.append(seen.did(Kind.COMMAND_LOST))
    else:
        vote = _vote(seen)
        did = [vote] if vote is not None else did if kind in (LOST_REPLY, RESEND) else []
        if kind in (LOST_REPLY, RESEND):
            did.append(seen.did(Kind.REPLY_LOST if kind is LOST_REPLY else Kind.SENT_AGAIN))
    return [*did, seen.did(Kind.GRANTED)] if seen.is_granted else did


def _vote(seen: Seen) -> Happening | None:
    """Return what becomes of the vote of a server."""
    node, (old, new) = seen.move.event.node, seen.lock_keys()
    name = next((one for one in seen.names if one.endswith(b"@%d" % node) and (one in old or one in new)), b"")
    before = seen.owned_before.get(name) if name in old else None
    after = seen.owned.get(name) if name in new else None
    if before is None:
        return seen.did(Kind.VOTE, servers=(node,)) if after is not None else None
    if after is None:
        own, of_others, owner = Kind.VOTE_TAKEN_BACK, Kind.VOTE_TAKEN_BACK_OTHERS, before
    elif new[name].ttl_ms > old[name].ttl_ms:
        own, of_others, owner = Kind.VOTE_RENEWED, Kind.VOTE_RENEWED_OTHERS, after
    elif seen.asks and not _releases(seen):
        return seen.did(Kind.VOTE_REFUSED, servers=(node,))
    else:
        is_left = seen.ghosts[0].actors[seen.actor].phase > ASKS and before != seen.client
        return seen.did(Kind.VOTE_LEFT_OTHERS, before, servers=(node,)) if is_left else None
    return seen.did(own, servers=(node,)) if owner == seen.client else seen.did(of_others, owner, servers=(node,))


def _releases(seen: Seen) -> bool:
    """Return whether the command takes back what an earlier command of the same try has got."""
    command = seen.move.command
    return command is None or command.words[0].startswith((b"EVAL", b"DEL", b"UNLINK"))


def _at_the_counter(seen: Seen) -> Happening:
    before, after = seen.ghosts
    has_more = after.actors[seen.actor].writes > before.actors[seen.actor].writes
    wrote = has_more or after.served > before.served  # with its write, or after it
    if wrote or after.written != before.written:
        if seen.counted <= seen.counted_before and seen.wrote_last >= 0:
            return seen.did(Kind.OVERWROTE, seen.wrote_last, value=seen.counted, over=seen.counted_before)
        return seen.did(Kind.WROTE, value=seen.counted)
    if seen.counted != seen.counted_before:
        return seen.did(Kind.WROTE, value=seen.counted)
    if seen.actor % seen.world.task.at_once in seen.world.node(seen.move.before, seen.client).writing:
        return seen.did(Kind.WRITE_REFUSED)
    return seen.did(Kind.READ, value=seen.counted_before)


def _at_the_lock(seen: Seen) -> Happening | None:
    client = seen.client
    old, new = seen.lock_keys()
    for name in old.keys() - new.keys():
        owner = seen.owned_before.get(name)
        return seen.did(Kind.RELEASED) if owner in (client, None) else seen.did(Kind.DELETED_OTHERS, owner)
    if seen.is_granted:
        return _granted(seen, old, new)
    if new.keys() - old.keys():
        return seen.did(Kind.KEY_SET)
    for name in old:
        if new[name].ttl_ms > old[name].ttl_ms:
            owner = seen.owned.get(name)
            return seen.did(Kind.RENEWED) if owner in (None, client) else seen.did(Kind.RENEWED_OTHERS, owner)
    return _no_change(seen, old)


def _granted(seen: Seen, old: dict[bytes, Key], new: dict[bytes, Key]) -> Happening:
    before, after = seen.ghosts
    if not {None, seen.client} & {seen.owned.get(name) for name in new}:  # no key, or another's
        return seen.did(Kind.BEGAN_WITHOUT_LOCK)
    if not new.keys() - old.keys() and seen.owned_before.get(next(iter(new))) == seen.client:
        return seen.did(Kind.BEGAN)  # it has the key since another command
    return seen.did(Kind.GRANTED_WITH_FENCE, value=after.fence) if after.fence > before.fence else seen.did(Kind.GRANTED)


def _no_change(seen: Seen, keys: dict[bytes, Key]) -> Happening | None:
    client, word = seen.client, seen.move.command.words[0] if seen.move.command is not None else b""
    owner = next((seen.owned_before.get(name) for name in keys), None)
    is_others = owner not in (None, client)
    if seen.asks or word == b"WATCH" or any(one.harm in OF_ACTOR for one in seen.move.findings):  # a harm is not contradicted
        return seen.did(Kind.WAITED) if is_others and seen.asks else None
    if word in ASKS_FOR_IT and is_others:
        return seen.did(Kind.WAITED)  # for its next turn: a request may acquire more than once
    if word in LOOKS:
        if not keys:
            return seen.did(Kind.SAW_FREE)
        return seen.did(Kind.SAW_OWN) if owner == client else seen.did(Kind.SAW_OTHERS, owner or 0)
    if owner == client and seen.ghosts[0].actors[seen.actor].phase > ASKS and seen.move.event.own:
        return seen.did(Kind.LEFT_OWN)
    return seen.did(Kind.LEFT_OTHERS, owner) if is_others else None


def broken(seen: Seen) -> tuple[Happening, ...]:
    """Return how an event breaks claims, with the letters of the clients where they are known."""
    return tuple(dict.fromkeys(breaks(seen, finding) for finding in seen.move.findings))


def breaks(seen: Seen, finding: Finding) -> Happening:
    """Return how an event breaks one claim."""
    at_once, at_ms, kind = seen.world.task.at_once, seen.move.state.now_ms, Kind(finding.harm)
    client = letter_of(finding.client // at_once if finding.client >= 0 else max(seen.client, 0))
    if finding.harm is Harm.LOST:
        return _loss(seen, finding)
    if finding.harm in OF_WAITERS and finding.client >= 0:
        waiting = seen.world.waiting(seen.move.state) or seen.world.waiting(seen.move.before)
        return Happening(kind, at_ms, others=_letters(one // at_once for one in waiting))
    if finding.harm in OF_ACTOR:
        others = (client,) if finding.harm is Harm.THEFT else ()
        return Happening(kind, at_ms, letter_of(max(seen.client, 0)), others)
    if finding.harm in OF_CLIENT:
        fence = seen.ghosts[0].fence if finding.harm is Harm.FENCE else 0
        return Happening(kind, at_ms, client, value=fence, code=finding.error)
    return of_finding(finding)


def _loss(seen: Seen, finding: Finding) -> Happening:
    lost, at_ms = seen.counted_before - seen.counted + 1, seen.move.state.now_ms
    hold = seen.ghosts[0].actors[seen.actor].hold
    mine = hold.at(at_ms).why if hold is not None else finding.why
    who = seen.client if mine == finding.why or seen.wrote_last < 0 else seen.wrote_last
    if finding.why is not Why.ENTITLED:
        return Happening(Kind.LOST, at_ms, letter_of(who), value=lost, why=finding.why.value)
    in_process = seen.world.program.stage.store is None
    return Happening(Kind.LOST_IN_PROCESS if in_process else Kind.LOST_BETWEEN_HOLDERS, at_ms, value=lost)


def of_finding(finding: Finding) -> Happening:
    """Return how a finding breaks its claim, without its clients. The same happening is the same way."""
    if finding.harm is Harm.LOST:
        return Happening(Kind.LOST if finding.why else Kind.LOST_BETWEEN_HOLDERS, why=finding.why.value)
    return Happening(Kind(finding.harm), code=finding.error if finding.harm is Harm.FAILED else "")
