"""Describe one event of a schedule, and the claims that it breaks, as happenings."""

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
from lab.explore.store.real_redis import Key
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
# harms with a client that does them; harms with a client that they accuse
OF_ACTOR = (Harm.THEFT, Harm.FOREIGN_RENEWAL)
OF_CLIENT = (Harm.RENEWED_FOR_NOBODY, Harm.FENCE, Harm.TWICE, Harm.NOT_DONE, Harm.DONE_AND_REFUSED, Harm.FAILED)


class EventFacts(NamedTuple):
    """One event, with the facts that its description needs."""

    world: World
    move: Move
    # the value of the counter before and after
    counted_before: int
    counted: int
    # the names of the lock's keys
    names: frozenset[bytes]
    # by key of the lock that exists before, and after: the client that made it
    owned_before: Mapping[bytes, int]
    owned: Mapping[bytes, int]
    # the client that wrote last before the event; -1 without one
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
        states = [contents[state.lock] for state in (self.move.before, self.move.state)]
        before, after = ({key.name: key for key in keys if key.name in self.names} for keys in states)
        return before, after

    @property
    def actor(self) -> int:
        """Return the request of the event."""
        return self.world.actor_of(self.client, self.move.event.thread)

    @property
    def asks(self) -> bool:
        """Return whether the request waits for the lock before the event."""
        return self.ghosts[0].actors[self.actor].phase == ASKS

    @property
    def is_granted(self) -> bool:
        """Return whether the event grants the lock to the request."""
        before, after = self.ghosts
        return before.actors[self.actor].hold is None and after.actors[self.actor].hold is not None

    def did(
        self, kind: Kind, *others: int | None, value: int = 0, over: int = 0, servers: tuple[int, ...] = (), code: str = ""
    ) -> Happening:
        """Return a happening of the event. others: further clients that it concerns."""
        actor, at_ms = letter_of(self.client) if self.client >= 0 else "", self.move.state.now_ms
        return Happening(kind, at_ms, actor, _letters(others), value=value, over=over, servers=servers, code=code)


def _letters(clients: Iterable[int | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(letter_of(client) for client in clients if client is not None))


def of_event(facts: EventFacts) -> tuple[Happening, ...]:
    """Return the happenings of an event, in order; none if the event is not worth a word."""
    event = facts.move.event
    if event.kind in DONE_TO:
        return (facts.did(DONE_TO[event.kind]),)
    if event.kind is CHOICE:
        return (facts.did(Kind.DREW, value=event.number),)
    if event.kind is CLOCK:
        return _expired(facts)
    if event.kind is RESTART:
        return (facts.did(Kind.SERVER_RESTARTED, servers=(event.node,)) if event.node else facts.did(Kind.STORE_RESTARTED),)
    at_all = not event.node and event.kind in AT_ALL and facts.world.program.servers > 1
    happenings = [facts.did(AT_ALL[event.kind])] if at_all else _at_a_server(facts) if event.node else _of_client(facts)
    number = facts.actor % facts.world.task.at_once
    before, after = (facts.world.node(state, facts.client).ended[number] for state in (facts.move.before, facts.move.state))
    failed = [facts.did(Kind.REQUEST_FAILED, code=after)] if after not in ("ok", before) and after else []
    return (*happenings, *failed)


def _expired(facts: EventFacts) -> tuple[Happening, ...]:
    before, after = facts.lock_keys()
    owners = [facts.owned_before.get(name) for name in before if name not in after]
    kind = Kind.LOCK_EXPIRED if facts.world.program.servers == 1 else Kind.VOTES_EXPIRED
    return (facts.did(kind, *owners),) if _letters(owners) else ()


def _of_client(facts: EventFacts) -> list[Happening]:
    command, kind = facts.move.command, facts.move.event.kind
    if command is None:
        return [facts.did(Kind.HEARD)] if facts.move.reply is not None else []
    if kind is FAILURE:
        return [facts.did(Kind.WORK_FAILED)]
    if kind is LOST_COMMAND:
        return [facts.did(Kind.SENT_TO_STORE), facts.did(Kind.COMMAND_LOST)]
    did = _at_the_lock(facts) if command.server == LOCK else _at_the_counter(facts)
    if kind is RESEND and did is not None and did.kind is Kind.KEY_SET:
        return [facts.did(Kind.KEY_SET_TWICE)]
    if kind in (LOST_REPLY, RESEND):
        then = Kind.REPLY_LOST if kind is LOST_REPLY else Kind.SENT_AGAIN
        return [did or facts.did(Kind.SENT), facts.did(then)]
    return [did] if did is not None else []


def _at_a_server(facts: EventFacts) -> list[Happening]:
    """Return the happenings of an event at one of several servers."""
    kind, servers = facts.move.event.kind, (facts.move.event.node,)
    did = [facts.did(Kind.SENT_TO_SERVER, servers=servers)]
    if kind is LOST_COMMAND:
        did.append(facts.did(Kind.COMMAND_LOST))
    else:
        vote = _vote(facts)
        did = [vote] if vote is not None else did if kind in (LOST_REPLY, RESEND) else []
        if kind in (LOST_REPLY, RESEND):
            did.append(facts.did(Kind.REPLY_LOST if kind is LOST_REPLY else Kind.SENT_AGAIN))
    return [*did, facts.did(Kind.GRANTED)] if facts.is_granted else did


def _vote(facts: EventFacts) -> Happening | None:
    """Return the effect of a command on the vote of a server; None if there is nothing to say."""
    node, (old, new) = facts.move.event.node, facts.lock_keys()
    name = next((key for key in facts.names if key.endswith(b"@%d" % node) and (key in old or key in new)), b"")
    before = facts.owned_before.get(name) if name in old else None
    after = facts.owned.get(name) if name in new else None
    if before is None:
        return facts.did(Kind.VOTE, servers=(node,)) if after is not None else None
    if after is None:
        own, of_others, owner = Kind.VOTE_TAKEN_BACK, Kind.VOTE_TAKEN_BACK_OTHERS, before
    elif new[name].ttl_ms > old[name].ttl_ms:
        own, of_others, owner = Kind.VOTE_RENEWED, Kind.VOTE_RENEWED_OTHERS, after
    elif facts.asks and not _releases(facts):
        return facts.did(Kind.VOTE_REFUSED, servers=(node,))
    else:
        is_left = facts.ghosts[0].actors[facts.actor].phase > ASKS and before != facts.client
        return facts.did(Kind.VOTE_LEFT_OTHERS, before, servers=(node,)) if is_left else None
    return facts.did(own, servers=(node,)) if owner == facts.client else facts.did(of_others, owner, servers=(node,))


def _releases(facts: EventFacts) -> bool:
    """Return whether the command takes back the vote that the same try has got before."""
    command = facts.move.command
    return command is None or command.words[0].startswith((b"EVAL", b"DEL", b"UNLINK"))


def _at_the_counter(facts: EventFacts) -> Happening:
    before, after = facts.ghosts
    has_more = after.actors[facts.actor].writes > before.actors[facts.actor].writes
    wrote = has_more or after.served > before.served  # the request may end with its write
    if wrote or after.written != before.written:
        if facts.counted <= facts.counted_before and facts.wrote_last >= 0:
            return facts.did(Kind.OVERWROTE, facts.wrote_last, value=facts.counted, over=facts.counted_before)
        return facts.did(Kind.WROTE, value=facts.counted)
    if facts.counted != facts.counted_before:
        return facts.did(Kind.WROTE, value=facts.counted)
    if facts.actor % facts.world.task.at_once in facts.world.node(facts.move.before, facts.client).writing:
        return facts.did(Kind.WRITE_REFUSED)
    return facts.did(Kind.READ, value=facts.counted_before)


def _at_the_lock(facts: EventFacts) -> Happening | None:
    client = facts.client
    old, new = facts.lock_keys()
    for name in old.keys() - new.keys():
        owner = facts.owned_before.get(name)
        return facts.did(Kind.RELEASED) if owner in (client, None) else facts.did(Kind.DELETED_OTHERS, owner)
    if facts.is_granted:
        return _granted(facts, old, new)
    if new.keys() - old.keys():
        return facts.did(Kind.KEY_SET)
    for name in old:
        if new[name].ttl_ms > old[name].ttl_ms:
            owner = facts.owned.get(name)
            return facts.did(Kind.RENEWED) if owner in (None, client) else facts.did(Kind.RENEWED_OTHERS, owner)
    return _no_change(facts, old)


def _granted(facts: EventFacts, old: dict[bytes, Key], new: dict[bytes, Key]) -> Happening:
    before, after = facts.ghosts
    if not {None, facts.client} & {facts.owned.get(name) for name in new}:  # no key, or keys of others
        return facts.did(Kind.BEGAN_WITHOUT_LOCK)
    if not new.keys() - old.keys() and facts.owned_before.get(next(iter(new))) == facts.client:
        return facts.did(Kind.BEGAN)  # an earlier command has set the key
    return facts.did(Kind.GRANTED_WITH_FENCE, value=after.fence) if after.fence > before.fence else facts.did(Kind.GRANTED)


def _no_change(facts: EventFacts, keys: dict[bytes, Key]) -> Happening | None:
    client, word = facts.client, facts.move.command.words[0] if facts.move.command is not None else b""
    owner = next((facts.owned_before.get(name) for name in keys), None)
    is_others = owner not in (None, client)
    does_harm = any(finding.harm in OF_ACTOR for finding in facts.move.findings)  # the sentence about the harm tells enough
    if facts.asks or word == b"WATCH" or does_harm:
        return facts.did(Kind.WAITED) if is_others and facts.asks else None
    if word in ASKS_FOR_IT and is_others:
        return facts.did(Kind.WAITED)  # a request may acquire more than once
    if word in LOOKS:
        if not keys:
            return facts.did(Kind.SAW_FREE)
        return facts.did(Kind.SAW_OWN) if owner == client else facts.did(Kind.SAW_OTHERS, owner or 0)
    if owner == client and facts.ghosts[0].actors[facts.actor].phase > ASKS and facts.move.event.own:
        return facts.did(Kind.LEFT_OWN)
    return facts.did(Kind.LEFT_OTHERS, owner) if is_others else None


def broken(facts: EventFacts) -> tuple[Happening, ...]:
    """Return how an event breaks claims, with the letters of the clients if they are known."""
    return tuple(dict.fromkeys(breaks(facts, finding) for finding in facts.move.findings))


def breaks(facts: EventFacts, finding: Finding) -> Happening:
    """Return how an event breaks one claim."""
    at_once, at_ms, kind = facts.world.task.at_once, facts.move.state.now_ms, Kind(finding.harm)
    client = letter_of(finding.client // at_once if finding.client >= 0 else max(facts.client, 0))
    if finding.harm is Harm.LOST:
        return _loss(facts, finding)
    if finding.harm in OF_WAITERS and finding.client >= 0:
        waiting = facts.world.waiting(facts.move.state) or facts.world.waiting(facts.move.before)
        return Happening(kind, at_ms, others=_letters(actor // at_once for actor in waiting))
    if finding.harm in OF_ACTOR:
        others = (client,) if finding.harm is Harm.THEFT else ()
        return Happening(kind, at_ms, letter_of(max(facts.client, 0)), others)
    if finding.harm in OF_CLIENT:
        fence = facts.ghosts[0].fence if finding.harm is Harm.FENCE else 0
        return Happening(kind, at_ms, client, value=fence, code=finding.error)
    return of_finding(finding)


def _loss(facts: EventFacts, finding: Finding) -> Happening:
    lost, at_ms = facts.counted_before - facts.counted + 1, facts.move.state.now_ms
    hold = facts.ghosts[0].actors[facts.actor].hold
    why = hold.at(at_ms).why if hold is not None else finding.why
    accused = facts.client if why == finding.why or facts.wrote_last < 0 else facts.wrote_last
    if finding.why is not Why.ENTITLED:
        return Happening(Kind.LOST, at_ms, letter_of(accused), value=lost, why=finding.why.value)
    in_process = facts.world.program.stage.store is None
    return Happening(Kind.LOST_IN_PROCESS if in_process else Kind.LOST_BETWEEN_HOLDERS, at_ms, value=lost)


def of_finding(finding: Finding) -> Happening:
    """Return how a finding breaks its claim, without its clients: equal happenings count as one way to break it."""
    if finding.harm is Harm.LOST:
        return Happening(Kind.LOST if finding.why else Kind.LOST_BETWEEN_HOLDERS, why=finding.why.value)
    return Happening(Kind(finding.harm), code=finding.error if finding.harm is Harm.FAILED else "")
