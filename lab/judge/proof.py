"""Decide whether a violation is proved: by evidence that is complete, and by lines that the load's record does not contradict.

Where the two accounts disagree elsewhere, lines still prove what they show: a write that overwrote another write, a request that
wrote twice. They do not prove what never happened: that no other request got the lock may only mean that it was not journaled.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

from app.lock import Claim
from lab.evidence.history import FAULTS, KEY_EVENTS, journal_of
from lab.evidence.inventory import Damage, DamageKind
from lab.evidence.loss import Loss
from lab.evidence.run_folder import RUN, RunRecord
from lab.judge.fact import Code, Fact, Repeated, TwoInside
from lab.judge.findings import Findings
from lab.judge.judgement import Evidence, Violation
from lab.judge.run_facts import REPORTS_KEYS

# Who promises both has no excuse in a theft: then it does not matter that the lines of the thief may be gone.
NO_THEFTS = (Claim.releases_only_its_own.name, Claim.releases_atomically.name)

NAMED = 3  # keys in a fact


def damages(findings: Findings) -> list[Fact]:
    """Return what is wrong with the files of the evidence."""
    return [Fact(Code.DAMAGED, one.n, one.of, file=one.file, name=one.kind, detail=one.detail) for one in findings.damage]


def doubts(findings: Findings) -> list[Fact]:
    """Return all that makes the evidence doubtful."""
    return [*damages(findings), *findings.mismatches, *filter(None, [findings.account.disagreement])]


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


def strange(findings: Findings) -> Fact:
    """Return that the grants name another key than the store knows."""
    return Fact(Code.STRANGE_KEY, name=findings.strange_key, several=tuple(findings.known_keys[:NAMED]))


def missing(folder: Path, record: RunRecord, findings: Findings) -> list[Damage]:
    """Return what is missing from a run folder, each file once. findings: what the analysis of its history found."""
    found: dict[str, Damage] = {}
    for damage in _unlisted(folder, record, findings):
        found.setdefault(damage.file, damage)
    return [damage for damage in found.values() if damage.file not in findings.left_out]


def _unlisted(folder: Path, record: RunRecord, findings: Findings) -> Iterator[Damage]:
    """Yield what no hash shows: files that the run never wrote, and claims of another lab."""
    for replica in sorted({*record.took_part, *findings.acknowledged_by_replica} - {""}):
        if not (folder / journal_of(replica)).is_file():
            yield Damage(journal_of(replica), DamageKind.MISSING)
    reports_keys = record.stage["store"] in REPORTS_KEYS and findings.sent > 0
    if reports_keys and not (folder / KEY_EVENTS).is_file():
        yield Damage(KEY_EVENTS, DamageKind.MISSING)
    recorded = {outcome.record.name for outcome in findings.faults}
    for note in sorted((folder / "faults").glob("*.reached")):
        if note.stem not in recorded:
            yield Damage(FAULTS, DamageKind.FAULT_NOT_RECORDED, detail=note.stem)
    unknown = [name for name in (record.scenario["tests"], *record.stage["claims"]) if name not in Claim.__members__]
    if unknown:
        yield Damage(RUN, DamageKind.UNKNOWN_CLAIM, detail=unknown[0])
