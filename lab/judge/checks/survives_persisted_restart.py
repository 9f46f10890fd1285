"""The store forgot the lock although it syncs every change to disk: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_against(Claim.survives_persisted_restart, findings)
