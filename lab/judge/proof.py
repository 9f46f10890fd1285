"""Decide whether a violation is proved: not by damaged evidence, and not by lines that the load's record contradicts.

Where the two accounts disagree elsewhere, lines still prove what they show: a write that overwrote another write, a request that
wrote twice. They do not prove what never happened: that no other request got the lock may only mean that it was not journaled.
"""

from __future__ import annotations

from collections.abc import Container

from app.lock import Claim
from lab.evidence.loss import Loss
from lab.judge.examples import Repeated, TwoInside
from lab.judge.findings import Findings
from lab.judge.violation import Evidence, Violation

# Who promises both has no excuse in a theft: then it does not matter that the lines of the thief may be gone.
NO_THEFTS = (Claim.releases_only_its_own.name, Claim.releases_atomically.name)

NAMED = 3  # keys in a message


def doubts(findings: Findings) -> list[str]:
    """Return what makes the evidence doubtful, as sentences without their full stops."""
    return [*map(str, findings.damage), *findings.mismatches, *filter(None, [findings.account.disagreement])]


def stands(violation: Violation, findings: Findings, claims: Container[str]) -> bool:
    """Return whether a violation is proved by evidence that nothing contradicts. claims: what the stage promises."""
    if findings.damage:
        return False
    if not findings.mismatches and not findings.account.disagreement:
        return True
    shown = [one for one in violation.evidence if _shows(one, findings)]
    if any(isinstance(one, Loss | TwoInside) for one in shown):
        may_be_theft = findings.run.has_store and findings.mismatches
        return not may_be_theft or all(claim in claims for claim in NO_THEFTS)
    if any(isinstance(one, Loss | TwoInside | Repeated) for one in violation.evidence):
        return bool(shown)
    return not findings.mismatches


def _shows(evidence: Evidence, findings: Findings) -> bool:
    """Return whether a conflict or a repetition was shown, and the load's record agrees with it."""
    match evidence:
        case Loss():
            grants = evidence.culprit, evidence.victim
            return all(grant is not None and grant.request not in findings.doubtful for grant in grants)
        case TwoInside():
            both = evidence.elder, evidence.younger
            known = all(grant.releasing_ns for grant in both) or not findings.mismatches  # a release may be missing
            return known and not any(grant.request in findings.doubtful for grant in both)
        case Repeated():
            return evidence.request not in findings.doubtful
    return False


def rests_on_the_key(violation: Violation, findings: Findings) -> bool:
    """Return whether a violation rests on the key that grants name, and the store never reported that key.

    Then nobody knows who deleted the lock, and the end of a lease, or a theft, may excuse it. Where nothing of the scenario can
    have ended a lease, no excuse is needed.
    """
    by_key = any(isinstance(one, Loss | TwoInside) for one in violation.evidence)
    return by_key and bool(findings.strange_key) and findings.run.stretched


def strange(findings: Findings) -> str:
    """Return that the grants name another key than the store knows, as a sentence without its full stop."""
    known = " and ".join(findings.known_keys[:NAMED]) + (" …" if len(findings.known_keys) > NAMED else "")
    return f"the grants name {findings.strange_key}, of which the store never reported anything; it did of {known}"
