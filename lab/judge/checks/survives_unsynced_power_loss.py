"""The store lost its power before it had synced the lock: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_against(Claim.survives_unsynced_power_loss, findings)
