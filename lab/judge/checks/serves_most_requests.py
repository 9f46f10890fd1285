"""Too many requests were refused, although nothing failed and they were ready to wait."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.history import Outcome
from lab.judge.examples import Refusals
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LEAST_SHARE = 0.5  # of the requests; a lock that votes among many competitors refuses some of them on a busy machine
PATIENT_MS = 5000  # a request that waits for less may find the lock held


def violations(findings: Findings) -> Iterator[Violation]:
    run = findings.run
    # work that does not fit into the TTL is given up by a lock that looks at its lease: that request was not refused
    refused = findings.outcomes[Outcome.FAILED] - findings.measures["outlasted_ttl"]
    if findings.outcomes[
        Outcome.ACKNOWLEDGED
    ]:  # a lock that fails for some has an answer of its own; one that fails for all cannot run
        refused += min(findings.outcomes[Outcome.UNKNOWN], findings.gave_up)
    if run.has_faults or run.nested or run.wait_ms < PATIENT_MS or not run.is_complete:
        return
    if refused > (1 - LEAST_SHARE) * findings.requests:
        what = f"{refused} of {findings.requests} requests were refused"
        yield Violation(Claim.serves_most_requests.name, "too many requests were refused", what, [Refusals(refused)])
