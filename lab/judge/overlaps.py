"""Collect overlaps: a request got a key while another request still believed to hold it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from lab.judge.findings import Findings
from lab.judge.grant import Grant, Name

FORGET_BEYOND = 4096  # grants of one key; beyond that, the collector forgets those before every open grant


class Overlaps:
    """Report each grant and each release, in the order of time. The results are in the findings and in the grants."""

    def __init__(self, findings: Findings, open_grants: Mapping[Name, Grant]) -> None:
        self.findings = findings
        self.open_grants = open_grants
        self.got_ns_of_key: dict[str, list[int]] = {}

    def got(self, grant: Grant) -> None:
        self.got_ns_of_key.setdefault(grant.key, []).append(grant.got_ns)

    def released(self, grant: Grant) -> None:
        """Look for a grant of the same key in the time in which this holder believed to hold it."""
        if not grant.key:
            return
        got_ns = self.got_ns_of_key[grant.key]
        if bisect_left(got_ns, grant.releasing_ns) > bisect_right(got_ns, grant.got_ns):
            self.findings.overlapping_beliefs += 1
            grant.outlived = True
        if len(got_ns) > FORGET_BEYOND:
            oldest_ns = min((other.got_ns for other in self.open_grants.values()), default=got_ns[-1])
            del got_ns[: max(0, min(bisect_left(got_ns, oldest_ns), len(got_ns) - 1))]
