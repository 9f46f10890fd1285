"""The explorer on a lock that asks several servers: each server executes a command at a moment of its own."""

from __future__ import annotations

import textwrap

import pytest

from app.lock import Claim
from lab.explore.search.event import Budget
from tests.corpus import CORPUS
from tests.sampled import sampled
from tests.servers.explored import exploring, question, searched, without_unnoticed

WITHIN_S = 300.0


def found_with(real, path, budget=None, *, servers=3, asks=1, switch=None):
    """Search a lock on several servers. asks: how often each client asks."""
    with exploring(real, path, servers) as explorer:
        explorer.world(question().task, 2).program.asks = asks
        found = searched(explorer, question(budget or Budget()), *([switch] if switch else []))
    assert found.complete
    return found


@pytest.mark.parametrize(
    ("servers", "restarts", "breaks"), sampled([(3, 1, True), (4, 1, False), (4, 2, True)], [(3, 1, True), (4, 1, False)])
)
def test_how_many_servers_may_forget(servers, restarts, breaks, real):
    """Two clients hold a lock only if as many servers forget it as two majorities share: one of three, two of four."""
    found = found_with(real, "redlock", Budget(restarts=restarts), servers=servers)

    assert (Claim.survives_amnesia in found.broken) == breaks


@pytest.mark.trial
def test_pause_uses_up_the_validity(real):
    """A waiter whose validity ended in a pause tries again, and does not wait for ever, also if the holder has died."""
    found = found_with(real, "redlock", Budget(pauses=1, crashes=1), asks=2)

    assert not {Claim.acquires_atomically, Claim.freed_after_crash} & set(found.broken)


NEVER_RELEASES = textwrap.dedent(
    '''\
    """Asks all servers once, and works with most of the votes."""
    from uuid import uuid4
    from app.lock import Grant, NotAcquired, Stage
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key, self.token = store, key, uuid4().hex
        def run(self, work):
            if self.store.all("SET", self.key, self.token, "NX").count("OK") < {needed}:
                raise NotAcquired(self.key, 0)
            return work(Grant(self.key))
    STAGE = Stage(lock=Lock, store="redis_nodes")
    '''
)


def one_by_one(needed, servers=3):
    """Run each order in which two clients ask, read and write. Return how many there are, and how many lose an increment."""
    number, losing, todo = 0, 0, [()]
    while todo:
        done = todo.pop()
        given, answers, reads, wrote, count, lost = {}, ({}, {}), {}, set(), 0, False
        for client, server in done:
            if server:
                answers[client][server] = given.setdefault(server, client) == client
            elif client not in reads:
                reads[client] = count
            else:
                lost |= count > reads[client]
                count = reads[client] + 1
                wrote.add(client)
        able = [(client, server) for client in (0, 1) for server in range(1, servers + 1) if server not in answers[client]]
        holders = [client for client in (0, 1) if len(answers[client]) == servers and sum(answers[client].values()) >= needed]
        able += [(client, 0) for client in holders if client not in wrote]
        todo += [(*done, one) for one in able]
        number, losing = number + (not able), losing + (lost and not able)
    return number, losing


@pytest.mark.parametrize(("needed", "breaks"), [(2, False), (1, True)])
def test_as_many_as_one_by_one(needed, breaks, real, tmp_path):
    """With three servers, explorer and independent search find equally many schedules, and agree if any loses an increment."""
    own = tmp_path / "own.py"
    own.write_text(NEVER_RELEASES.format(needed=needed), encoding="utf-8")
    found = found_with(real, own, switch=(without_unnoticed, True, {}))
    number, lost = one_by_one(needed)

    assert (found.schedules, Claim.exclusive in found.broken) == (number, breaks)
    assert bool(lost) is breaks


def test_servers_asked_one_by_one(real):
    """A lock that asks its servers one after the other is decided, and breaks nothing."""
    with exploring(real, CORPUS / "trial" / "sound" / "redlock_one_by_one.py", 3) as explorer:
        answer = explorer.answer(question(), WITHIN_S)

    assert answer.is_decided
    assert not answer.result.broken
