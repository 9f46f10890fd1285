"""Any lock with acquire and release as a stage: what its errors mean, and how one is asked that does not wait."""

from __future__ import annotations

import pytest

from app import adapter
from app.adapter import adapted, retried
from app.lock import NotAcquired, NotOwner


class Free:
    """A lock that is always free."""

    def __init__(self, key: str) -> None:
        self.key = key

    def acquire(self) -> None: ...
    def release(self) -> None: ...


def run(kind: type) -> object:
    return adapted(kind)(None, "key", 3000, 1000, 30).run(lambda grant: "done")  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "means"), [("acquire", NotAcquired), ("release", NotOwner)])
def test_error_is_an_answer(method, means):
    """An error whose name says "not acquired" is a refusal of an acquire, and at a release the answer that the lock was lost."""
    not_acquired = type("NotAcquired", (RuntimeError,), {})

    def fail(lock: Free) -> None:
        raise not_acquired(lock.key)

    assert run(Free) == "done"
    with pytest.raises(means):
        run(type("Lock", (Free,), {method: fail}))


@pytest.mark.parametrize(("succeeds_at", "granted", "asked"), [(0, True, 1), (2, True, 3), (99, False, 5)])
def test_retried(succeeds_at, granted, asked, monkeypatch):
    """An attempt is made again after each pause until one succeeds or the time is over."""
    clock, tries = [0.0], []
    monkeypatch.setattr(adapter.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(adapter.time, "sleep", lambda s: clock.__setitem__(0, clock[0] + s))

    def attempt() -> bool:
        tries.append(clock[0])
        return len(tries) > succeeds_at

    assert (retried(attempt, 3.5, 1.0), len(tries)) == (granted, asked)
