"""redis-semaphore: a refresh that comes too late takes the lock again, and nobody learns of it.

**Idea** The refresh sets the key if it is gone.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="swarthy/redis-semaphore#175",
    link="https://github.com/swarthy/redis-semaphore/issues/175",
    what="A mutex that expired between two refreshes is acquired again in silence, although another one may have been "
    "inside meanwhile. Mended by #177.",
    package="redis-semaphore",
    version="5.3.0",
    language="JavaScript",
    promises={},
    not_run="what a run loses is what every lock loses whose holder is stopped for longer than the TTL; it does not show the "
    "difference between a lock that was taken again and one that was kept.",
)
