"""Celery's recipe for a task that runs one at a time: a release that was in time when it looked deletes another's lock.

**Idea** The recipe looks at the clock, and then deletes the key, although it can be the lock of another by then.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="celery/celery#2926",
    link="https://github.com/celery/celery/issues/2926",
    what="A task that takes longer than the timeout deletes the lock of another. The recipe looks at the clock since then; "
    "between the look and the deletion, the lock can still pass on.",
    package="celery",
    version="5.6.3",
    promises={
        "exclusive": Quote(
            "We ensure that it's not possible for two or more workers to import the same feed at the same time by setting a "
            "cache key consisting of the MD5 check-sum of the feed URL.",
            "https://docs.celeryq.dev/en/v5.6.3/tutorials/task-cookbook.html#ensuring-a-task-is-only-executed-one-at-a-time",
        ),
        "releases_only_its_own": Quote(
            "If the task would last more than the timeout then it will delete the lock for another task that might be running.",
            "https://github.com/celery/celery/issues/2926",
        ),
    },
    scenario="release_race",
    breaks="releases_only_its_own",
    by="deleted_by_another",
)
STAGE = FAILURE.stage_like("recipe_celery")
