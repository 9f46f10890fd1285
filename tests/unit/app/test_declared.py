"""Test a declared lock: its refusals, its losses, how long it is tried again, and the error of the work."""

from __future__ import annotations

import asyncio
import contextlib
import time
from types import SimpleNamespace

import pytest

from app.foreign import declared as module
from app.foreign.declared import declared
from app.lock import NotAcquired, NotOwner


class Held(Exception): ...  # noqa: N818


class Lost(Exception): ...  # noqa: N818


def run(use, wait_ms=0, work=lambda grant: grant.key, store=None, **options):
    """Run a declared lock whose errors Held and Lost are answers: before the work a refusal, after it a loss."""
    return declared(use, errors=(Held, Lost), **options)(store, "key", 3000, wait_ms, 1).run(work)


def raising(error, after_work=False):
    """Return a lock's function that raises this error, before or after the work."""

    def use(at):
        if after_work:
            at.work()
        raise error

    return use


def swallow(at):
    """Do the work, and catch its error."""
    with contextlib.suppress(ZeroDivisionError):
        at.work()


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda at: None, NotAcquired),
        (raising(Held()), NotAcquired),
        (raising(Lost(), after_work=True), NotOwner),
        (raising(KeyError()), KeyError),
        (lambda at: (at.work(), at.lost()), NotOwner),
    ],
)
def test_refusals_losses_and_errors(use, error):
    """A lock whose function does not do the work has refused; an error is an answer only if it is declared as one."""
    with pytest.raises(error):
        run(use)


def test_granted():
    """The work gets the lock's key at the store, and its answer is returned; its error is raised even if the lock catches it."""
    assert [run(lambda at: at.work(), key=key) for key in ("lock:{key}", str.upper)] == ["lock:key", "KEY"]
    assert run(lambda at: at.client or at.work(), store=SimpleNamespace(plain=lambda autocommit=True: autocommit)) == "key"
    with pytest.raises(ZeroDivisionError):
        run(swallow, work=lambda _: 1 // 0)
    with pytest.raises(Held):  # an error of the work is no answer of the lock
        run(lambda at: at.work(), work=raising(Held()))


def test_asked_again():
    """A refused lock is called again until the wait time is over, unless it reads that time: then it has waited by itself."""
    asked, waited = [], []
    with pytest.raises(NotAcquired):
        run(asked.append, wait_ms=60)
    with pytest.raises(NotAcquired):
        run(lambda at: waited.append(at.wait_s), wait_ms=60_000)
    until_s = time.monotonic() + 0.05

    assert run(lambda at: at.work() if time.monotonic() > until_s else None, wait_ms=10_000) == "key"
    assert (len(asked) > 2, waited) == (True, [60])
    assert len({at.token for at in asked}) == len(asked)


def test_times():
    """A time of whole seconds is an int, because Redis' EX takes no 3.0."""
    lock = declared(len)(None, "key", 3000, 1500, 30)
    at = module.At(lock, len)

    assert [(one, type(one)) for one in (at.ttl_s, at.ttl_ms, at.wait_s)] == [(3, int), (3000, int), (1.5, float)]


def test_coroutine():
    """A lock's coroutine awaits the work, and all requests share one event loop."""
    loops = []

    async def use(at):
        loops.append(asyncio.get_running_loop())
        assert await at.work() == "key"

    store = SimpleNamespace(get_connection_kwargs=lambda: {"host": "127.0.0.1", "port": 1})
    kind = declared(use)
    assert [kind(store, "key", 3000, 0, 1).run(lambda grant: grant.key) for _ in range(2)] == ["key", "key"]
    assert loops[0] is loops[1]


def test_own_address(monkeypatch):
    """A connection to the address in the lock's own code goes to the lab's server; one to another address does not."""
    monkeypatch.setattr(module, "LED", {})
    store = SimpleNamespace(get_connection_kwargs=lambda: {"host": "127.0.0.1", "port": 7, "password": "secret"})
    declared(len, leads_from="localhost:6379")(store, "key", 3000, 0, 1)
    places = [("localhost", 6379), ("127.0.0.1", 7), ("localhost", 6380)]
    own, direct, other = (SimpleNamespace(host=host, port=port, db=3, password="") for host, port in places)
    for one in (own, direct, other):
        module._led(lambda connection: connection)(one)

    assert {(one.host, one.port, one.db, one.password) for one in (own, direct)} == {("127.0.0.1", 7, 0, "secret")}
    assert (other.host, other.port, other.db) == ("localhost", 6380, 3)
