"""Two threads of one process were inside at once: shown by what they destroyed, or by two grants that were in force at once."""

from __future__ import annotations

from collections.abc import Iterator

from lab.judge.check import harm_in_one_process
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_in_one_process(findings)
