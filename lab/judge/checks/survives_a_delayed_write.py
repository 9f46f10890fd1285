"""A write arrived when its sender had given it up and others had written, and it destroyed their increments."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.findings import Findings
from lab.judge.net_losses import UNCONFIRMED
from lab.judge.violation import Violation
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    delayed = [fault for fault in findings.faults if fault.record.effect is Effect.WRITE_DELAYED]
    lost = findings.net_losses.get(UNCONFIRMED, 0)
    if delayed and lost:
        yield Violation(Claim.survives_a_delayed_write.name, UNCONFIRMED, f"{counted(lost, 'increment')} lost", [*delayed])
