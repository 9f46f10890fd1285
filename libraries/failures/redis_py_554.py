"""redis-py's lock for a Redis without scripts: who dies between SETNX and PEXPIRE leaves the key behind for ever.

**Idea** Two commands acquire it. This version takes another class by default if the Redis has scripts.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="redis/redis-py#554",
    link="https://github.com/redis/redis-py/issues/554",
    what="A process that dies after SETNX and before PEXPIRE leaves a lock without an expiry. #818 reports the same.",
    package="redis",
    version="2.10.6",
    promises={
        "exclusive": Quote(
            "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.",
            "https://github.com/redis/redis-py/blob/2.10.6/redis/lock.py",
        ),
        "acquires_atomically": Quote(
            "I think it has a bug since the process might die after `self.redis.setnx(self.name, token)` but before "
            "`self.redis.pexpire(self.name, timeout)`.",
            "https://github.com/redis/redis-py/issues/554",
        ),
    },
    scenario="crash_while_acquiring",
    breaks="acquires_atomically",
    by="failed_in_acquire",
)
STAGE = FAILURE.stage(
    worker=["../.environments/redis_2/bin/python", "../../workers/worker.py", "../locks/redis_2.py"],
    environment="redis_2",
    store="redis",
    ttl_ms=3000,
)
