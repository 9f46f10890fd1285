"""Redisson: the watchdog renews a lock that was released, if the release was answered before the renewal was registered.

**Idea** The acquire registers its renewal, and the release cancels it, each when its own reply arrives; nothing orders the two.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="redisson/redisson#7272",
    link="https://github.com/redisson/redisson/issues/7272",
    what="A thread is interrupted while it acquires. The release then cancels the renewal before the acquire registers it, so "
    "the watchdog renews a lock that was released, for ever. #7277 registers the renewal before it sends the acquire.",
    package="redisson",
    version="4.4.0",
    language="Java",
    promises={},
    not_run="the registry of Redisson (Maven's) is not reached where the lab was made. The lab's own `watchdog` ends the "
    "renewal before it sends the release.",
)
