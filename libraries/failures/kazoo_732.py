"""kazoo: a try for the lock leaves its place in the queue behind when the session is suspended.

**Idea** The cleanup of a try that failed swallows the error of its own deletion.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="python-zk/kazoo#732",
    link="https://github.com/python-zk/kazoo/issues/732",
    what="The node of a waiter that gave up stays, and becomes a lock that nobody holds. #760 retries the deletion.",
    package="kazoo",
    version="2.11.0",
    promises={},
    not_run="the session must be suspended in the moment between a refused try and its cleanup, and the lab has no "
    "failpoint there.",
)
