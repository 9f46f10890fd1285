"""Somebody who was overtaken over and over."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.check import Violation
from lab.findings import Findings

LIMIT = 2  # times the number of users: in a queue it would be none


def violations(findings: Findings) -> Iterator[Violation]:
    most = findings.most_overtaken
    if findings.tests == Claim.fair.name and most > LIMIT * findings.users:
        what = f"one request was overtaken {most} times by others who had come later"
        yield Violation(Claim.fair.name, "whoever tries at the right moment wins", what, [{"overtaken": most}])
