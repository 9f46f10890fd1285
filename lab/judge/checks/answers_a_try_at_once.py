"""Requests that did not want to wait were kept waiting."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted

LIMIT_MS = 200  # a try takes a few round trips; waiting in the scenario's queue takes far longer


# one in ten may be late on a busy machine, but not more, and not so much
TAIL, TAIL_MS = 0.1, 1000


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests != Claim.answers_a_try_at_once.name:
        return
    waits_ms = sorted(wait_ns / 1e6 for wait_ns in findings.in_vain_ns)
    number = len(waits_ms) + findings.never_answered
    median_ms = waits_ms[len(waits_ms) // 2] if waits_ms else 0
    late = sum(wait_ms > TAIL_MS for wait_ms in waits_ms) + findings.never_answered
    what = ""
    if median_ms > LIMIT_MS:
        what = f"half of the requests that did not want to wait gave up only after more than {median_ms:.0f} ms"
    elif late > TAIL * number:
        what = f"{late} of {counted(number, 'request')} that did not want to wait gave up after more than {TAIL_MS} ms, or never"
    if what:
        yield Violation(Claim.answers_a_try_at_once.name, "waited before it gave up", what, list(findings.in_vain))
