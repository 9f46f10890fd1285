"""A retry by recursion ends with the stack, where the lock stays taken."""

from __future__ import annotations

import sys

import pytest

from app.locks import stage
from lab.explore import kept


class TakenStore:
    """A store whose key is always there."""

    tries = 0

    def set(self, *_: object, **__: object) -> bool:
        self.tries += 1
        return False

    def delete(self, *_: object) -> None:
        """Free nothing."""


@pytest.mark.parametrize("name", ["setnx_no_else", str(kept.slips()["retries_by_recursion"])], ids=["no else", "else"])
def test_recursion_ends_with_the_stack(name):
    """Each try keeps a frame, so a patient waiter fails after as many tries as the stack has frames."""
    store = TakenStore()
    lock = stage(name).lock(store, "key", ttl_ms=0, wait_ms=60_000, retry_ms=0)

    with pytest.raises(RecursionError):
        lock.run(lambda grant: grant)

    assert sys.getrecursionlimit() / 2 < store.tries < sys.getrecursionlimit()
