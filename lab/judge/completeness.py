"""Find out what is missing from a run folder: files, journals of replicas, records of faults, names that no lab knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.lock import Claim
from lab.evidence.damage import Damage, DamageKind
from lab.evidence.history import FAULTS, KEY_EVENTS, journal_of
from lab.evidence.run_folder import RUN, RunRecord
from lab.judge.findings import Findings

REPORTS_KEYS = ("redis", "redis_nodes")  # stores that report what becomes of their keys


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
