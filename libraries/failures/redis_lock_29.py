"""redis-lock of npm: a release that was in time when it looked deletes another's lock.

**Idea** The release compares the time with the lock's timeout, and then sends DEL.
"""

from app.foreign.library import Quote, ReportedFailure

README = "https://github.com/errorception/redis-lock/blob/89b6acfc1fca2c5d5ae3e2313227976ce5cf85dc/README.md"

FAILURE = ReportedFailure(
    report="errorception/redis-lock#29",
    link="https://github.com/errorception/redis-lock/issues/29",
    what="Between the look at the clock and the deletion, the lock expires and passes to another client.",
    package="redis-lock",
    version="1.0.0",
    language="JavaScript",
    promises={
        "exclusive": Quote(
            "It's not possible for two functions to acquire the same lock at any point in time, except if the timeout is "
            "breached.",
            README,
        ),
        "releases_atomically": Quote("releases the lock (or do nothing if timeout has already released it)", README),
    },
    scenario="release_race",
    breaks="releases_atomically",
    by="expired_between_check_and_delete",
)
STAGE = FAILURE.stage_like("npm_redis_lock")
