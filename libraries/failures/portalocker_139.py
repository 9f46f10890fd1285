"""portalocker: the RedisLock has two holders, once in a great many acquires.

**Idea** The lock is a subscription to a channel, and who wants it counts who listens there.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="wolph/portalocker#139",
    link="https://github.com/wolph/portalocker/issues/139",
    what="Two processes hold the lock at the same time. #137 and #145 report the same.",
    package="portalocker",
    version="4.1.0",
    promises={},
    not_run="`rush` is kept, but about one request a second is served: too few for what is so rare.",
)
