"""dramatiq's mutex: a release lowers the count, although another may be inside by then.

**Idea** A mutex is a rate limiter that lets one in. Its count has no owner.
"""

from app.foreign.library import Quote, ReportedFailure

CODE = "https://github.com/Bogdanp/dramatiq/blob/v2.2.1/dramatiq/rate_limits/concurrent.py"

FAILURE = ReportedFailure(
    link=CODE,
    what="A holder that was slower than the ttl frees the mutex of the next one.",
    package="dramatiq",
    version="2.2.1",
    promises={
        "exclusive": Quote("You can use a concurrent rate limiter of size 1 to get a distributed mutex.", CODE),
    },
    scenario="slow_holder",
    breaks="releases_only_its_own",
    by="deleted_by_another",
)
STAGE = FAILURE.stage_like("pypi_dramatiq")
