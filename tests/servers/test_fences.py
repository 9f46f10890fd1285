"""Fences at the counter, on a real Redis."""

from __future__ import annotations

from contextlib import closing
from uuid import uuid4

import pytest
from redis import Redis

from app.lock import Grant, Refused
from app.resources import fenced, fenced_owner


@pytest.mark.parametrize("counter", [fenced.Counter, fenced_owner.Counter])
@pytest.mark.parametrize("fence", [1, 9, 2**53, 10**18 - 1, 2**63 - 2])
def test_older_fence_is_refused(real, counter, fence):
    """A fence that is older by one is refused, also if Lua's floating-point numbers are equal for both."""
    with closing(Redis(real.host, real.port, decode_responses=True)) as client:
        one = counter(client, f"counter:{uuid4()}")
        one.write(1, Grant("lock", fence, "A"))
        one.read(Grant("lock", fence + 1, "B"))

        with pytest.raises(Refused, match=f"{fence} is older than {fence + 1}"):
            one.write(2, Grant("lock", fence, "A"))

        assert one.write(2, Grant("lock", fence + 1, "B")).overwrote == 1
