"""celery-singleton's lock: a task that is killed leaves its lock behind for ever.

**Idea** By default the lock has no expiry, and only the task itself releases it.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="steinitzu/celery-singleton#40",
    link="https://github.com/steinitzu/celery-singleton/issues/40",
    what="The lock of a task that is killed stays, and no task of its kind is queued any more.",
    package="celery-singleton",
    version="0.3.1",
    promises={
        "exclusive": Quote(
            "This is a baseclass for celery tasks that ensures only one instance of the task can be queued or running at any "
            "given time.",
            "https://github.com/steinitzu/celery-singleton/blob/0.3.1/README.md",
        ),
        "freed_after_crash": Quote(
            "If i set a hard time limit and the task exceeds that limit the task gets killed. But Celery Singleton doesn't "
            "delete it, so it keeps it from creating new tasks.",
            "https://github.com/steinitzu/celery-singleton/issues/40",
        ),
    },
    scenario="holder_crash",
    breaks="freed_after_crash",
    by="holder_died",
)
STAGE = FAILURE.stage_like("pypi_celery_singleton")
