"""How a claim breaks, as a short phrase. The same phrase is the same way."""

from __future__ import annotations

from lab.explore.search.harm import Finding, Harm, Why

PHRASES = {
    Harm.TWO_HOLDERS: "the lock was granted to two holders at once",
    Harm.TWO_IN_PROCESS: "two requests of one process were inside the lock at once",
    Harm.TWICE: "a request did its work twice",
    Harm.NOT_DONE: "a request was answered as if its work were done, and it was not",
    Harm.DONE_AND_REFUSED: "a request was refused, and had done its work",
    Harm.THEFT: "a release deleted the lock of another holder",
    Harm.FOREIGN_RENEWAL: "a client renewed the lock of another holder",
    Harm.RENEWED_FOR_NOBODY: "the lock was renewed for a request that was over",
    Harm.ABANDONED: "work was abandoned because its lease had ended",
    Harm.STUCK: "a request waits for ever",
    Harm.LOCKED: "nobody uses the lock, and it stays locked for too long",
    Harm.NOT_FREED: "a release left the lock locked",
    Harm.ASLEEP: "a request waits, although the lock is free",
    Harm.REFUSED_TO_ITSELF: "a holder is refused its own lock",
    Harm.FREED_BY_INNER: "the inner release freed the outer lock",
    Harm.FENCE: "a fence did not grow",
    Harm.FEW_SERVED: "fewer than half of the requests were served",
    Harm.BLOCKED_BY_LEAVER: "a request that gave up keeps the lock locked",
    Harm.SLOW_TRY: "a request that did not want to wait had to wait",
}
LOST_BETWEEN_HOLDERS = "an increment was lost between two holders of the lock"


def of_finding(finding: Finding) -> str:
    """Return how a finding breaks its claim."""
    if finding.harm is Harm.LOST:
        return lost_because(finding.why)
    if finding.harm is Harm.FAILED:
        return f"a request fails, although nothing was injected: {finding.about}"
    return PHRASES[finding.harm]


def lost_because(reason: Why) -> str:
    """Return the phrase of a lost increment."""
    return f"an increment was lost: a client worked {reason}" if reason else LOST_BETWEEN_HOLDERS
