"""A retry by recursion ends with the stack, where the lock stays taken."""

from __future__ import annotations

import sys

import pytest

from app.locks.setnx_no_else import Lock


class TakenStore:
    """A store whose key is always there."""

    tries = 0

    def set(self, *_: object, **__: object) -> bool:
        self.tries += 1
        return False

    def delete(self, *_: object) -> None:
        """Free nothing."""


def test_recursion_ends_with_the_stack():
    """Each try keeps a frame, so a patient waiter fails after as many tries as the stack has frames."""
    store = TakenStore()
    lock = Lock(store, "key", ttl_ms=0, wait_ms=60_000, retry_ms=0)

    with pytest.raises(RecursionError):
        lock.run(lambda grant: grant)

    assert sys.getrecursionlimit() / 2 < store.tries < sys.getrecursionlimit()
