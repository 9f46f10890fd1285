"""redis-py's lock in a ``with`` block that waits for a limited time: the block runs although the lock was not acquired.

**Idea** ``__enter__`` calls ``acquire`` and does not look at its answer. Of the two classes with this method, the one without a
script is used: the lab reads the store's refusal from its SETNX.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="redis/redis-py#621",
    link="https://github.com/redis/redis-py/issues/621",
    what="A with block with a blocking_timeout runs without the lock when the time is over.",
    package="redis",
    version="2.10.6",
    promises={
        "exclusive": Quote(
            "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.",
            "https://github.com/redis/redis-py/blob/2.10.6/redis/lock.py",
        ),
    },
    scenario="rush",
    options={"requests": 300, "wait_ms": 30},
    breaks="exclusive",
    by="entered_although_refused",
)
STAGE = FAILURE.stage(
    worker=["../.environments/redis_2/bin/python", "../../workers/worker.py", "../locks/redis_2.py", "block=yes"],
    environment="redis_2",
    store="redis",
    ttl_ms=3000,
)
