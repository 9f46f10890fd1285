"""The lock was free and a request waited for it, and the request did not take it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted

LIMIT_MS = 20  # a wake-up takes far less, also from a store that writes to disk; the sleep of a poll takes more
# one in ten may be late on a busy machine, but not more, and not so much
TAIL, TAIL_MS = 0.1, 5 * LIMIT_MS

MECHANISM = "the lock was free, but all waiters slept"


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests != Claim.prompt_handover.name:
        return
    times = sorted(findings.idle_times, key=lambda idle: idle.ms)
    median_ms = times[len(times) // 2].ms if times else 0
    late = [idle for idle in times if idle.ms > TAIL_MS]
    what = ""
    if median_ms > LIMIT_MS:
        what = f"in half of the hand-overs the lock stayed free for over {median_ms:.0f} ms while a request waited"
    elif len(late) > TAIL * len(times):
        what = (
            f"in {len(late)} of {counted(len(times), 'hand-over')} the lock stayed free for over {TAIL_MS} ms "
            f"while a request waited, once for {times[-1].ms:.0f} ms"
        )
    if what:
        yield Violation(Claim.prompt_handover.name, MECHANISM, what, [times[-1]])
