"""Which claim a lock that is stuck breaks."""

from __future__ import annotations

import pytest

from app.lock import Claim
from lab.explore.budget import Budget
from lab.explore.ghosts import Ghosts
from lab.explore.rules import stuck

LEFT_BY_B = ((b"lock", 1),)


@pytest.mark.parametrize(
    ("resent", "claim"), [(1, Claim.survives_a_lost_reply), (0, Claim.freed_after_crash), (-1, Claim.freed_after_crash)]
)
def test_command_sent_twice_has_left_the_lock(resent, claim):
    """With a crash as well, a stuck lock is charged to the command that was sent twice only where that client made the lock."""
    ghosts = Ghosts(owners=LEFT_BY_B, fault_at_holder=True, resent=resent)

    assert stuck(ghosts, Budget(crashes=1, resends=1)).claim is claim
