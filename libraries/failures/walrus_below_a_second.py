"""walrus' lock with a TTL below one second: a waiter waits for ever once the holder has died.

**Idea** The TTL in milliseconds, divided by 1000, is the time that BLPOP waits. Below a second it is 0: BLPOP without an end.
"""

from dataclasses import replace

from app.foreign.library import Quote, ReportedFailure

CODE = "https://github.com/coleifer/walrus/blob/0.9.8/walrus/lock.py"

FAILURE = ReportedFailure(
    link=CODE,
    what="With a ttl below 1000, a waiter is not woken when the lock expires. Two reports on the same unit are closed: "
    "coleifer/walrus#110 and #111.",
    package="walrus",
    version="0.9.8",
    promises={
        "exclusive": Quote(
            "By default this method will block until the lock becomes free (either by being released or expiring).", CODE
        ),
        "freed_after_crash": Quote(
            "If the lock was initialized with a ``ttl``, then the lock will be released automatically after the given number of "
            "milliseconds.",
            CODE,
        ),
    },
    scenario="holder_crash",
    breaks="freed_after_crash",
    by="holder_died",
)
STAGE = replace(FAILURE.stage_like("pypi_walrus"), ttl_step_ms=1)
