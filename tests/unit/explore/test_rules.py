"""Which claim a lock that is stuck breaks."""

from __future__ import annotations

import pytest

from app.lock import Claim
from lab.explore.budget import Budget
from lab.explore.ghosts import Ghosts
from lab.explore.rules import LOCKED_OUT, Finding, Passed, passed, stuck

LEFT_BY_B = ((b"lock", 1),)


@pytest.mark.parametrize(
    ("resent", "claim"), [(1, Claim.survives_a_lost_reply), (0, Claim.freed_after_crash), (-1, Claim.freed_after_crash)]
)
def test_command_sent_twice_has_left_the_lock(resent, claim):
    """With a crash as well, a stuck lock is charged to the command that was sent twice only where that client made the lock."""
    ghosts = Ghosts(owners=LEFT_BY_B, fault_at_holder=True, resent=resent)

    assert stuck(ghosts, Budget(crashes=1, resends=1)).claim is claim


@pytest.mark.parametrize(
    ("used", "charged"),
    [
        (Budget(resends=1), True),
        (Budget(resends=2), True),
        (Budget(resends=1, pauses=1), False),
        (Budget(resends=1, crashes=1), False),
        (Budget(resends=1, lost_replies=1), False),
        (Budget(resends=1, restarts=1), False),
        (Budget(), False),
    ],
)
def test_locked_out_by_a_copy(used, charged):
    """A command that was sent twice is the cause of a long wait only without other faults: a client that is stopped keeps its
    lock for as long.
    """
    step = Passed(after=(), now_ms=0, then_ms=2500, ttl_ms=3000, used=used, idle=True)

    _, found = passed(Ghosts(), step)

    assert found == ([Finding(Claim.survives_a_lost_reply, LOCKED_OUT)] if charged else [])
