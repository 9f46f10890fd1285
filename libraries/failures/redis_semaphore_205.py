"""redis-semaphore: a refresh that meets the release takes the lock for lost.

**Idea** The refresh is under way when the release deletes the key.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="swarthy/redis-semaphore#205",
    link="https://github.com/swarthy/redis-semaphore/issues/205",
    what="A refresh that comes just after the release finds no key and ends the program: the lock seems lost. Mended by #206.",
    package="redis-semaphore",
    version="5.5.0",
    language="JavaScript",
    promises={},
    not_run="the refresh is a timer of the worker, and no failpoint of the lab can hold it until the release is sent.",
)
