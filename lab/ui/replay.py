"""A run that was over in a few seconds, once more from its evidence: figures at many moments, and each stay with the lock.

While such a run goes on, the page gets a dozen messages: the fault that the run is about passes in two of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.journal import Got, Released, Started, Wrote, WroteAgain
from lab.evidence.history import History, Outcome, Request
from lab.judge.grant import Grant, Grants

SHORT_S = 4.0  # a longer run is seen well while it goes on
STEPS = 300
MOST_STAYS = 3000  # a screen shows no more

Seconds = float


def replay(folder: Path) -> dict[str, Any] | None:
    """Return the frames of a run; None if it took long or no request was answered. Times are seconds from its first request.

    ``points``: seconds, acknowledged, unknown, the counter, failed. ``stays``: a replica, from and until when one of its requests
    held the lock, and whether it was locked with a key. ``faults``: as the live run has them.
    """
    history = History(folder)
    requests = list(history.requests())
    if not requests:
        return None
    began_ns = min(one.start_ns for one in requests)
    ended_ns = max(one.end_ns for one in requests)
    if ended_ns - began_ns > SHORT_S * 1e9:
        return None

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
        for one in history.faults()
    ]
    stays = [
        [one.replica, at(one.got_ns), min(until_s, at(end_ns)) if end_ns else until_s, bool(one.key)]
        for one, end_ns in _stays(history).items()
        if one.got_ns < ended_ns
    ]
    points = [[at(moment), *figures] for moment, figures in _figures(history, requests, began_ns, ended_ns)]
    return {"until_s": until_s, "replicas": history.replicas, "points": points, "stays": stays[:MOST_STAYS], "faults": faults}


def _stays(history: History) -> dict[Grant, int]:
    """Return each grant, and when its holder ended: at its release, or at the latest when its replica was started again."""
    grants, ends = Grants(), dict[Grant, int]()
    for replica, event in history.events():
        if isinstance(event, Started):
            ends |= dict.fromkeys(grants.lost_with_process(replica), event.started_ns)
        elif isinstance(event, Got | Released) and (grant := grants.take(replica, event)) is not None:
            ends[grant] = grant.releasing_ns if isinstance(event, Released) else 0
    return ends


def _figures(history: History, requests: list[Request], began_ns: int, ended_ns: int) -> list[tuple[int, list[int]]]:
    """Return acknowledged, unknown, the counter and failed at moments of equal distance."""
    ends = sorted((one.end_ns, one.outcome) for one in requests)
    writes = sorted(
        (event.wrote_ns, event.part if isinstance(event, Wrote) else "", event.value)
        for _, event in history.events()
        if isinstance(event, Wrote | WroteAgain)
    )
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
