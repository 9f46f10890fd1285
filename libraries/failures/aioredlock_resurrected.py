"""aioredlock: a renewal that comes too late sets the key again.

**Idea** One script acquires and renews: it sets the key if it does not exist. So a lock that was lost seems never lost.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    link="https://github.com/joanvila/aioredlock/blob/0.7.3/aioredlock/redis.py",
    what="The lock of a holder that is stopped expires, and another one may have been inside when the watchdog takes it again.",
    package="aioredlock",
    version="0.7.3",
    promises={},
    not_run="it runs in `frozen_holder` and loses increments, but so does every lock without a fence; a run does not show the "
    "difference between a lock that was taken again and one that was kept.",
)
