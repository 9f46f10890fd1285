"""A request was overtaken again and again."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LIMIT = 2  # times the number of users: in a queue it would be none


def violations(findings: Findings) -> Iterator[Violation]:
    one = findings.overtaken
    if findings.run.tests == Claim.fair.name and one is not None and one.overtaken > LIMIT * findings.run.users:
        what = f"one request was overtaken {one.overtaken} times by requests that had asked later"
        yield Violation(Claim.fair.name, "no queue: later requests overtake", what, [one])
