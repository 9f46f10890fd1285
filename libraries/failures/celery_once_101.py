"""celery-once's lock: a release deletes the lock, whosever it is.

**Idea** The process that queues a task is another than the one that runs it, and no token goes with the task.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="cameronmaske/celery-once#101",
    link="https://github.com/cameronmaske/celery-once/pull/101",
    what="A task clears the lock that another task has taken.",
    package="celery-once",
    version="3.0.1",
    promises={
        "exclusive": Quote(
            "Celery Once allows you to prevent multiple execution and queuing of celery tasks.",
            "https://github.com/cameronmaske/celery-once/blob/v3.0.1/README.rst",
        ),
        "releases_only_its_own": Quote(
            "This PR restricts which task can clear a lock to the task which the lock was taken out for.",
            "https://github.com/cameronmaske/celery-once/pull/101",
        ),
    },
    scenario="slow_holder",
    breaks="releases_only_its_own",
    by="deleted_by_another",
)
STAGE = FAILURE.stage_like("pypi_celery_once")
