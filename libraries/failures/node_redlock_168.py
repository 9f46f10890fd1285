"""redlock 5 of npm: the release of a lock that has expired is tried again and again, and then fails.

**Idea** A server that no longer has the key votes against its deletion, so a release after the TTL never has a majority.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="mike-marcacci/node-redlock#168",
    link="https://github.com/mike-marcacci/node-redlock/issues/168",
    what="The release of an expired lock is tried as often as an acquire, and ends with an error of the quorum. #362 and "
    "sesamecare/redlock#6 report the same.",
    package="redlock",
    version="5.0.0-beta.2",
    language="JavaScript",
    promises={
        "exclusive": Quote(
            "It provides strong guarantees in both single-redis and multi-redis environments",
            "https://github.com/mike-marcacci/node-redlock/blob/v5.0.0-beta.2/README.md",
        ),
    },
    scenario="work_outlasts_ttl",
    commands=580,  # four times the 145 that redlock 4.2.0 takes in this scenario
)
STAGE = FAILURE.stage_like("npm_redlock_5")
