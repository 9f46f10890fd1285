"""huey's lock: a task that is killed leaves its lock behind for ever.

**Idea** The lock is a field in the hash of all results, and by default it has no expiry.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="coleifer/huey#308",
    link="https://github.com/coleifer/huey/issues/308",
    what="After a restart, a locked task never runs again: its lock is still there. The consumer has had an option since then "
    "that deletes all locks when it starts.",
    package="huey",
    version="3.5.4",
    promises={
        "exclusive": Quote(
            "This lock prevents multiple invocations of a task from running concurrently.",
            "https://github.com/coleifer/huey/blob/3.5.4/docs/guide.rst#locking-tasks",
        ),
        "freed_after_crash": Quote(
            'Huey task "hello-world" never runs again because preexisting lock entry exists in "huey.results.huey" redis hash.',
            "https://github.com/coleifer/huey/issues/308",
        ),
    },
    scenario="holder_crash",
    breaks="freed_after_crash",
    by="holder_died",
)
STAGE = FAILURE.stage_like("pypi_huey")
