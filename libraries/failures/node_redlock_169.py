"""redlock 5 of npm: `using()` fails after a long wait for the lock.

**Idea** The expiry counts from the first try, so after a long wait it has passed when the lock is granted.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="mike-marcacci/node-redlock#169",
    link="https://github.com/mike-marcacci/node-redlock/issues/169",
    what="The automatic extension fails at once if the lock was contended. Mended by #274, and never published.",
    package="redlock",
    version="5.0.0-beta.2",
    language="JavaScript",
    promises={},
    not_run="a worker of the lab has two calls, acquire and release, and `using()` takes the work itself.",
)
