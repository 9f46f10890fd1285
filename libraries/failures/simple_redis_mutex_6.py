"""simple-redis-mutex: an acquire that has failed goes on, and takes a lock that nobody releases.

**Idea** The timer of the next try is not cleared.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="AmrSaber/simple-redis-mutex#6",
    link="https://github.com/AmrSaber/simple-redis-mutex/issues/6",
    what="After failAfterMillis, the library still tries to set the key, and leaves an orphan.",
    package="simple-redis-mutex",
    version="1.0",
    language="JavaScript",
    promises={},
    not_run="the registry has no version 1.0 any more; the oldest one there, 1.1.0, clears the timer.",
)
