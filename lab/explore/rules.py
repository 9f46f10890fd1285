"""What each event does to the ghosts, and which claim it breaks.

The rules read what an outsider can see: the store's keys before and after, and the marks of the work. They are the same for a
search in the tables and for a replay on a real server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.lock import Claim
from lab.explore.budget import Budget
from lab.explore.ghosts import Ghosts, Hold, Why, Written, put
from lab.explore.operation import Grant, Mark, Releasing, Wrote
from lab.explore.server_table import Contents, Key
from lab.explore.votes import ONE, Votes

FREED_AFTER_A_FAILED_RELEASE = Claim.freed_after_a_failed_release
THEFT = "a release deleted the lock of another holder"
STUCK = "a request waits for ever"
RENEWED_FOR_NOBODY = "the lock was renewed for a request that was over"
ABANDONED = "work was abandoned because its lease had ended"
LOCKED_OUT = "a request waits for a lock that nobody uses"
FREE_AGAIN_WITHIN_MS = 500  # beyond the TTL: as the claims say
FOREVER_MS = 10**12  # of a key that does not expire
SHARE_OF_TTL = 0.7  # a request that waits this long for a lock that nobody uses is locked out by a lost reply


class Finding(NamedTuple):
    """An event breaks a claim."""

    claim: Claim
    # what happened, as a short phrase; the same phrase is the same mechanism
    mechanism: str


REFUSED_TO_ITSELF = Finding(Claim.reentrant, "a holder is refused its own lock")
BROKEN_BY = {
    Why.ENTITLED: Claim.exclusive,
    Why.NO_LOCK: Claim.exclusive,
    Why.EXPIRED: Claim.held_to_the_end,
    Why.SLOW: Claim.survives_a_slow_acquire,
    Why.PAUSED: Claim.survives_a_freeze,
    Why.PAUSED_LATE: Claim.survives_a_late_freeze,
    Why.ROBBED: Claim.releases_only_its_own,
    Why.ROBBED_IN_RELEASE: Claim.releases_atomically,
    Why.STORE_LOST_IT: Claim.survives_store_restart,
    Why.VOTE_LOST: Claim.survives_amnesia,
}


THEFTS = (Why.ROBBED, Why.ROBBED_IN_RELEASE)


class Executed(NamedTuple):
    """A client took a step: its threads ran, and perhaps a command was executed before."""

    client: int
    # whether a background thread took the step
    background: bool
    # of the lock's store; of several servers, of the one that executed the command
    before: Contents
    after: Contents
    # of all servers
    all_after: Contents
    marks: Sequence[Mark]
    now_ms: int
    # when the client sent the command; to several servers, when the first of them executed it
    sent_ms: int
    # whether the request is in its release, and this is the release's first command
    begins_release: bool
    # whether the request was over at an earlier moment
    was_over: bool
    votes: Votes = ONE


def executed(ghosts: Ghosts, step: Executed, known: frozenset[bytes]) -> tuple[Ghosts, list[Finding]]:
    """Return the ghosts after a step, and what it breaks. ``known``: the names of the lock's keys."""
    found: list[Finding] = []
    client = step.client
    if step.begins_release:
        hold_key = next((name for name in known if ghosts.owner(name) == client), None)
        ghosts = ghosts._replace(releases_own=put(ghosts.releases_own, client, hold_key is not None))
    if step.before is not step.after:
        ghosts = _keys_changed(ghosts, step, known, found)
    for mark in step.marks:
        ghosts = _marked(ghosts, step, mark, found)
    return ghosts, found


def _keys_changed(ghosts: Ghosts, step: Executed, known: frozenset[bytes], found: list[Finding]) -> Ghosts:
    before, after = {key.name: key for key in step.before}, {key.name: key for key in step.after}
    for name in before.keys() - after.keys():
        ghosts = _deleted(ghosts, step, name, known, found)
    for name in after.keys() - before.keys():
        # the lock was free: a request that waits for it now waits for another reason
        ghosts = ghosts._replace(owners=tuple(sorted({*ghosts.owners, (name, step.client)})), idle_since_ms=-1)
    for name in before.keys() & after.keys():
        ghosts = _changed(ghosts, step, before[name], after[name], known, found)
    return ghosts


def _deleted(ghosts: Ghosts, step: Executed, name: bytes, known: frozenset[bytes], found: list[Finding]) -> Ghosts:
    owner = ghosts.owner(name)
    ghosts = ghosts._replace(owners=tuple(one for one in ghosts.owners if one[0] != name))
    if owner is None or owner == step.client or name not in known:
        return ghosts
    in_release = ghosts.releases_own[step.client]
    why = Why.ROBBED_IN_RELEASE if in_release else Why.ROBBED
    found.append(Finding(BROKEN_BY[why], THEFT))
    hold = ghosts.holds[owner]
    if hold is None or hold.key != step.votes.lock_of(name) or hold.at(step.now_ms).why is not Why.ENTITLED:
        return ghosts
    too_few = _number_of_votes(ghosts, owner, hold.key, step.votes) < step.votes.needed
    return ghosts.hold(owner, hold._replace(why=why)) if too_few else ghosts


def _number_of_votes(ghosts: Ghosts, client: int, lock: bytes, votes: Votes) -> int:
    """Return how many keys of a lock a client has made that are still there."""
    names = votes.keys(lock)
    return sum(owner == client and name in names for name, owner in ghosts.owners)


def _changed(ghosts: Ghosts, step: Executed, before: Key, after: Key, known: frozenset[bytes], found: list[Finding]) -> Ghosts:
    prolonged = before.ttl_ms > 0 and (not after.ttl_ms or after.ttl_ms > before.ttl_ms)
    if before.name not in known or not prolonged:
        return ghosts
    owner, hold = ghosts.owner(before.name), ghosts.holds[step.client]
    if owner != step.client:
        found.append(Finding(Claim.releases_only_its_own, "a client renewed the lock of another holder"))
    elif step.was_over and step.background:
        found.append(Finding(Claim.serves_most_requests, RENEWED_FOR_NOBODY))
    elif hold is not None and hold.until_ms is not None and hold.at(step.now_ms).why is Why.ENTITLED:
        until_ms = step.sent_ms + after.ttl_ms if after.ttl_ms else None
        if step.votes is not ONE:
            until_ms, _ = _lease_of_votes(ghosts, step, hold.key)
        ghosts = ghosts.hold(step.client, hold._replace(until_ms=until_ms))
    return ghosts


def _marked(ghosts: Ghosts, step: Executed, mark: Mark, found: list[Finding]) -> Ghosts:
    client, now_ms = step.client, step.now_ms
    match mark:
        case Grant():
            return _granted(ghosts, step, mark, found)
        case Wrote():
            return _wrote(ghosts, client, now_ms, mark, found)
        case Releasing():
            hold = ghosts.holds[client]
            if hold is not None and hold.at(now_ms).why is Why.EXPIRED and not ghosts.writes[client]:
                found.append(Finding(Claim.held_to_the_end, ABANDONED))
            return ghosts.hold(client, None)
        case _:
            return ghosts


def _granted(ghosts: Ghosts, step: Executed, mark: Grant, found: list[Finding]) -> Ghosts:
    client, name = step.client, mark.key.encode()
    if not name:
        return ghosts.hold(client, Hold(b"", None, Why.NO_LOCK))._replace(idle_since_ms=-1)
    until_ms, why = _lease(ghosts, step, name)
    for other, hold in enumerate(ghosts.holds):
        if other != client and hold is not None and hold.key == name and hold.at(step.now_ms).why is Why.ENTITLED:
            found.append(Finding(Claim.exclusive, "the lock was granted to two holders at once"))
    if mark.fence:
        if mark.fence <= ghosts.fence:
            found.append(Finding(Claim.fence_outlives_restart, "a fence did not grow"))
        ghosts = ghosts._replace(fence=max(mark.fence, ghosts.fence))
    return ghosts.hold(client, Hold(name, until_ms, why))._replace(idle_since_ms=-1)


def _lease(ghosts: Ghosts, step: Executed, lock: bytes) -> tuple[int | None, Why]:
    """Return until when a lock lives that is granted now, and whether its holder is entitled to it at all."""
    if step.votes is not ONE:
        return _lease_of_votes(ghosts, step, lock)
    mine = next((key for key in step.all_after if key.name == lock), None)
    until_ms = step.sent_ms + mine.ttl_ms if mine is not None and mine.ttl_ms else None
    return until_ms, Why.SLOW if until_ms is not None and until_ms <= step.now_ms else Why.ENTITLED


def _lease_of_votes(ghosts: Ghosts, step: Executed, lock: bytes) -> tuple[int | None, Why]:
    """Return until when a client has most of the votes, and why it has too few."""
    names = step.votes.keys(lock)
    mine = [key.ttl_ms or FOREVER_MS for key in step.all_after if key.name in names and ghosts.owner(key.name) == step.client]
    if len(mine) >= step.votes.needed:
        left_ms = sorted(mine)[-step.votes.needed]
        return (step.now_ms + left_ms if left_ms < FOREVER_MS else None), Why.ENTITLED
    return step.now_ms, Why.VOTE_LOST if ghosts.vote_lost else Why.SLOW if step.sent_ms < step.now_ms else Why.NO_LOCK


def _wrote(ghosts: Ghosts, client: int, now_ms: int, mark: Wrote, found: list[Finding]) -> Ghosts:
    hold = ghosts.holds[client]
    why = hold.at(now_ms).why if hold is not None else Why.NO_LOCK
    before = next((one for one in ghosts.written if one.part == mark.part), None)
    if mark.lost > 0:
        reason = _root(why, before.why if before is not None else why)
        found.append(Finding(BROKEN_BY[reason], lost_because(reason)))
    if ghosts.writes[client]:
        found.append(Finding(Claim.counts_once, "a request did its work twice"))
    written = (*(one for one in ghosts.written if one is not before), Written(mark.part, client, why))
    return ghosts._replace(written=tuple(sorted(written)), writes=put(ghosts.writes, client, ghosts.writes[client] + 1))


def _root(why: Why, of_victim: Why) -> Why:
    """Return which of the two is the cause: a theft only where it is the only one, for a thief is never entitled itself."""
    return next((one for one in (why, of_victim) if one not in (Why.ENTITLED, *THEFTS)), why or of_victim)


def lost_because(reason: Why) -> str:
    """Return the mechanism of a lost increment."""
    return (
        f"an increment was lost: a client worked {reason}" if reason else "an increment was lost between two holders of the lock"
    )


def paused(ghosts: Ghosts, client: int, writing: bool) -> Ghosts:
    """Return the ghosts after a pause. ``writing``: the client has looked at its lock for the last time."""
    hold = ghosts.holds[client]
    if hold is None:
        return ghosts
    # the lease outlived an earlier pause: what follows from a later one is not due to the earlier
    return ghosts.hold(client, hold._replace(paused_late=writing, paused=not writing))


def faulted(ghosts: Ghosts, client: int) -> Ghosts:
    """Return the ghosts after a fault that ends a client, or loses what it sent or what it was answered."""
    return ghosts._replace(fault_at_holder=ghosts.holds[client] is not None or ghosts.writes[client] > 0)


def crashed(ghosts: Ghosts, client: int) -> Ghosts:
    """Return the ghosts after a crash."""
    return faulted(ghosts, client).hold(client, None)


def restarted(ghosts: Ghosts, now_ms: int, votes: Votes = ONE, node: int = 0) -> Ghosts:
    """Return the ghosts after the store has lost its data; node: the one of several servers that has."""
    owners = tuple(one for one in ghosts.owners if votes.server_of(one[0]) != node)
    ghosts = ghosts._replace(owners=owners, vote_lost=node > 0)
    for client, hold in enumerate(ghosts.holds):
        entitled = hold is not None and hold.key and hold.at(now_ms).why is Why.ENTITLED
        if hold is not None and entitled and _number_of_votes(ghosts, client, hold.key, votes) < votes.needed:
            ghosts = ghosts.hold(client, hold._replace(why=Why.VOTE_LOST if node else Why.STORE_LOST_IT))
    return ghosts


class Passed(NamedTuple):
    """Time passed, because no client could do anything."""

    after: Contents
    now_ms: int
    then_ms: int
    ttl_ms: int
    used: Budget
    # whether a running client waits for the lock, and none is in its work
    idle: bool
    # whether each request takes the lock twice
    nested: bool = False


def passed(ghosts: Ghosts, step: Passed) -> tuple[Ghosts, list[Finding]]:
    """Return the ghosts after some time, and what it breaks: a lock that nobody uses must not stay locked."""
    left = {key.name for key in step.after}
    if len(left) != len(ghosts.owners):
        ghosts = ghosts._replace(owners=tuple(one for one in ghosts.owners if one[0] in left))
    ghosts = ghosts._replace(holds=tuple(hold and hold.at(step.then_ms) for hold in ghosts.holds))
    if not step.idle:
        return ghosts._replace(idle_since_ms=-1), []
    if step.nested:
        return ghosts, [REFUSED_TO_ITSELF]
    since_ms = step.now_ms if ghosts.idle_since_ms < 0 else ghosts.idle_since_ms
    return ghosts._replace(idle_since_ms=since_ms), list(_locked_out(step, step.then_ms - since_ms, ghosts))


def _locked_out(step: Passed, idle_ms: int, ghosts: Ghosts) -> Iterable[Finding]:
    # with another fault, the cause can be that fault: the lock of a client that is stopped stays as long without any copy
    only_resent = step.used.resends and step.used == Budget(resends=step.used.resends)
    if only_resent and idle_ms > SHARE_OF_TTL * step.ttl_ms:
        yield Finding(Claim.survives_a_lost_reply, LOCKED_OUT)
    if idle_ms > step.ttl_ms + FREE_AGAIN_WITHIN_MS:
        yield Finding(_claim_of_liveness(step.used, ghosts), "the lock stays locked for longer than its TTL, and nobody uses it")


def stuck(ghosts: Ghosts, used: Budget) -> Finding:
    """Return what is broken where clients wait and nothing can happen any more."""
    return charged(Finding(_claim_of_liveness(used, ghosts), STUCK), ghosts, used)


def charged(finding: Finding, ghosts: Ghosts, used: Budget) -> Finding:
    """Return the finding with the claim that it breaks: where the store lost its data, that is the cause."""
    if used.restarts and finding.claim is not Claim.fence_outlives_restart:
        return finding._replace(claim=Claim.survives_amnesia if ghosts.vote_lost else Claim.survives_store_restart)
    if finding.mechanism == RENEWED_FOR_NOBODY:
        return finding._replace(claim=_claim_of_liveness(used, ghosts))
    return finding


def _claim_of_liveness(used: Budget, ghosts: Ghosts) -> Claim:
    if any(client == ghosts.resent for _, client in ghosts.owners):  # its lock was left by a command that was sent twice
        return Claim.survives_a_lost_reply
    if used.crashes:
        return Claim.freed_after_crash if ghosts.fault_at_holder else Claim.acquires_atomically
    if used.lost_replies:
        return FREED_AFTER_A_FAILED_RELEASE if ghosts.fault_at_holder else Claim.acquires_atomically
    return Claim.survives_a_lost_reply if used.resends else Claim.serves_most_requests
