"""sherlock's lock on Redis with ``expire=None``, which means that it does not expire: it expires at once.

**Idea** Its script compares a text with the number -1. They are never equal, so EXPIRE is sent with -1.
"""

from app.foreign.library import Quote, ReportedFailure

CODE = "https://github.com/py-sherlock/sherlock/blob/v0.4.1/sherlock/lock.py"

FAILURE = ReportedFailure(
    report="py-sherlock/sherlock#37",
    link="https://github.com/py-sherlock/sherlock/pull/37",
    what="With expire=None, the lock is gone as soon as it is acquired. The change that should mend it is in this version.",
    package="sherlock",
    version="0.4.1",
    promises={
        "exclusive": Quote(
            "Sherlock is a library that provides easy-to-use distributed inter-process locks",
            "https://github.com/py-sherlock/sherlock/blob/v0.4.1/README.rst",
        ),
        "held_to_the_end": Quote("If explicitly set to `None`, lock will not expire.", CODE),
    },
    scenario="rush",
    options={"requests": 300},
    breaks="exclusive",
    by="granted_to_two",  # the key is gone before its holder knows of it: the lab sees only that two had it
)
STAGE = FAILURE.stage(
    worker=["../.environments/sherlock/bin/python", "../../workers/worker.py", "../locks/sherlock_redis.py", "expire=none"],
    environment="sherlock",
    store="redis",
)
