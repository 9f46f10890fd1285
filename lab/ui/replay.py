"""A run that was over in a few seconds, once more from its evidence: figures at many moments, and each stay with the lock.

During such a run, the page gets a dozen messages: the fault that the run is about passes in two of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

from lab.evidence.history import History, Outcome, Request
from lab.judge.findings import Findings
from lab.judge.grant import GrantRecord

SHORT_S = 4.0  # a longer run is seen well as it happens
STEPS = 300
MOST_STAYS = 3000  # a screen shows no more

Seconds = float


def replay(folder: Path, findings: Findings) -> dict[str, Any] | None:
    """Return the frames of a run; None if it took long or no request was answered. Times are seconds from its first request.

    ``points``: seconds, acknowledged, unknown, the counter, failed. ``stays``: a replica, from and until when one of its requests
    held the lock, and whether it was locked with a key. ``faults``: as the live run has them.
    """
    if not findings.requests or findings.duration_s > SHORT_S:
        return None
    began_ns, ended_ns = findings.origin_ns, findings.end_ns
    history, grants = History(folder, findings.left_out), sorted(findings.trace.grants, key=attrgetter("got_ns"))

    def at(ns: int) -> Seconds:
        return round((ns - began_ns) / 1e9, 4)

    until_s = at(ended_ns)
    faults = [
        {
            "kind": one.name.rpartition("-")[0].replace("_", " "),
            "replica": one.replica,
            "from_s": at(one.at_ns),
            "until_s": at(one.recovered_ns) if one.recovered_ns else None,
        }
        for one in (outcome.record for outcome in findings.faults)
    ]
    stays = [
        [one.replica, at(one.got_ns), min(until_s, at(_end(one, findings))), bool(one.key)]
        for one in grants
        if one.got_ns < ended_ns
    ]
    points = [[at(moment), *figures] for moment, figures in _figures(history.requests(), grants, began_ns, ended_ns)]
    return {"until_s": until_s, "replicas": history.replicas, "points": points, "stays": stays[:MOST_STAYS], "faults": faults}


def _end(grant: GrantRecord, findings: Findings) -> int:
    """Return when a holder ended: at its release, or at the latest when its replica was started again, or else the run's end."""
    starts_ns = (at_ns for at_ns in findings.started_ns.get(grant.replica, []) if at_ns > grant.got_ns)
    return grant.releasing_ns or next(starts_ns, findings.end_ns)


def _figures(
    requests: Iterable[Request], grants: Iterable[GrantRecord], began_ns: int, ended_ns: int
) -> list[tuple[int, list[int]]]:
    """Return acknowledged, unknown, the counter and failed at moments of equal distance."""
    ends = sorted((one.end_ns, one.outcome) for one in requests)
    writes = sorted((grant.wrote_ns, grant.part, grant.wrote) for grant in grants if grant.wrote is not None)
    counts, parts = dict.fromkeys(Outcome, 0), dict[str, int]()
    found, ended, wrote = [], 0, 0
    for step in range(STEPS + 1):
        moment = began_ns + (ended_ns - began_ns) * step // STEPS
        while ended < len(ends) and ends[ended][0] <= moment:
            counts[ends[ended][1]] += 1
            ended += 1
        while wrote < len(writes) and writes[wrote][0] <= moment:
            parts[writes[wrote][1]] = writes[wrote][2]
            wrote += 1
        counter = sum(parts.values())
        found.append((moment, [counts[Outcome.ACKNOWLEDGED], counts[Outcome.UNKNOWN], counter, counts[Outcome.FAILED]]))
    return found
