"""python-redis-lock with ``auto_renewal``: one renewal that fails ends all renewals.

**Idea** The thread that renews has no ``except``: an error ends it, and nobody learns of it.
"""

from app.foreign.library import Quote, ReportedFailure

README = "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/README.rst"

FAILURE = ReportedFailure(
    report="ionelmc/python-redis-lock#85",
    link="https://github.com/ionelmc/python-redis-lock/issues/85",
    what="After one failed renewal, a lock with auto_renewal=True expires during the work.",
    package="python-redis-lock",
    version="4.0.1",
    promises={
        "exclusive": Quote("Interface targeted to be exactly like `threading.Lock`", README),
        "held_to_the_end": Quote(
            "If set to ``True``, Lock will automatically renew the lock so that it doesn't expire for as long as the lock is "
            "held",
            "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/src/redis_lock/__init__.py",
        ),
        "survives_a_failed_renewal": Quote(
            "Get a lock with a 60-second lifetime but keep renewing it automatically to ensure the lock is held for as long as "
            "the Python process is running.",
            README,
        ),
    },
    scenario="renewal_fails_once",
    breaks="survives_a_failed_renewal",
    by="ttl_over_in_work",
)
STAGE = FAILURE.stage_like("pypi_python_redis_lock_renewal")
