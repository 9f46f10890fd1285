"""A run that was over in a few seconds, once more from its evidence: figures at many moments, and each stay with the lock.

During such a run, the page gets a dozen messages: the fault that the run is about passes in two of them. The loss that the run is
about is one moment of it, so the replay stretches the time around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from lab.evidence.history import History, Outcome, Request
from lab.judge.findings import Findings
from lab.judge.grant import GrantRecord
from lab.story.timeline import NEVER, DrawnGrant, Timeline
from lab.ui.live_run import band

SHORT_S = 4.0  # a longer run is seen well as it happens
STEPS = 300
MOST_STAYS = 3000  # a screen shows no more
MOST_LOSSES = 20  # of more, none is the moment of the run
AROUND, LEAST_S = 0.04, 0.02  # how much of the run, before and after the loss, is stretched; and at least how long
STRETCHED = 0.5  # what part of the replay it gets

Seconds = float
Span = tuple[int, int]


class Inside(IntEnum):
    """What a stay is, as the page paints it."""

    WITHOUT_LOCK = 0
    HOLDS = 1
    LEASE_OVER = 2
    SEVERAL = 3


def replay(folder: Path, findings: Findings, picture: Timeline) -> dict[str, Any] | None:
    """Return the frames of a run; None if it took long or no request was answered. Times are seconds from its first request.

    ``points``: seconds, acknowledged, unknown, the counter, failed. ``stays``: a replica, from and until when one of its requests
    was inside, and its state. ``faults``: as the live run has them. ``pace``: pairs of seconds and the share of the replay.
    """
    if not findings.requests or findings.duration_s > SHORT_S:
        return None
    began_ns, ended_ns = findings.origin_ns, findings.end_ns
    until_s = _s((ended_ns - began_ns) // 1000)
    history, grants = History(folder, findings.left_out), sorted(findings.trace.grants, key=attrgetter("got_ns"))
    faults = [band(outcome.record, lambda at_ns: _s((at_ns - began_ns) // 1000)) for outcome in findings.faults]
    pace = _pace(picture, until_s)
    moments = [began_ns + round(1e9 * _at(pace, step / STEPS)) for step in range(STEPS + 1)]
    points = [[_s((moment - began_ns) // 1000), *figures] for moment, figures in _figures(history.requests(), grants, moments)]
    stays = [
        [name, _s(begin), min(until_s, _s(end)), state] for name, begin, end, state in _stays(picture) if _s(begin) < until_s
    ]
    shown = {"until_s": until_s, "replicas": history.replicas, "points": points, "stays": stays[:MOST_STAYS]}
    return shown | {"faults": faults, "pace": pace}


def _s(us: float) -> Seconds:
    return round(us / 1e6, 4)


def _pace(picture: Timeline, until_s: Seconds) -> list[tuple[Seconds, float]]:
    """Return at which share of the replay each moment comes; the time around the loss that the run is about has half of it."""
    whole = [(0.0, 0.0), (until_s, 1.0)]
    if picture.lost <= 0 or picture.focus == NEVER or len(picture.losses) > MOST_LOSSES:
        return whole
    lost_s, around_s = picture.held[picture.losses[picture.focus].culprit].wrote_moment / 1e6, max(LEAST_S, AROUND * until_s)
    begin, end = max(0.0, lost_s - around_s), min(until_s, lost_s + around_s)
    if not 0 < end - begin < STRETCHED * until_s:
        return whole
    outside = (1 - STRETCHED) / (until_s - (end - begin))
    return [(0.0, 0.0), (round(begin, 4), begin * outside), (round(end, 4), begin * outside + STRETCHED), (until_s, 1.0)]


def _at(pace: Sequence[tuple[Seconds, float]], share: float) -> Seconds:
    """Return the moment at a share of the replay."""
    for (begin_s, begin), (end_s, end) in pairwise(pace):
        if share <= end:
            return begin_s + (end_s - begin_s) * (share - begin) / (end - begin) if end > begin else end_s
    return pace[-1][0]


def _stays(picture: Timeline) -> Iterator[tuple[str, int, int, Inside]]:
    """Yield the stays in microseconds, cut where their state changes."""
    crowds = {key: _crowds([held for held in picture.held if held.key == key]) for key in {held.key for held in picture.held}}
    for held in sorted(picture.held, key=attrgetter("got")):
        name, over = picture.replicas[held.replica], _lease_over(picture, held)
        if held.key == NEVER:
            yield name, held.got, held.until, Inside.WITHOUT_LOCK
            continue
        crowded = [(max(begin, held.got), min(end, held.until)) for begin, end in crowds[held.key]]
        cuts = sorted({held.got, over, held.until, *(at for span in crowded if span[0] < span[1] for at in span)})
        for begin, end in pairwise(cuts):
            inside = any(one[0] <= begin and end <= one[1] for one in crowded)
            yield name, begin, end, Inside.SEVERAL if inside else Inside.LEASE_OVER if begin >= over else Inside.HOLDS


def _lease_over(picture: Timeline, held: DrawnGrant) -> int:
    """Return when the holder's lease was over, if that was before it left; else when it left."""
    life = picture.lease(held)
    if life is None or life.gone == NEVER:
        return held.until
    return min(held.until, max(held.got, life.ended))


def _crowds(stays: Sequence[DrawnGrant]) -> list[Span]:
    """Return when several requests were inside at once, each believing to hold the same key."""
    changes = sorted([(one.got, 1, one.request) for one in stays] + [(one.until, 0, one.request) for one in stays])
    inside, found = defaultdict[str, int](int), list[Span]()
    since = NEVER
    for at, begins, request in changes:
        inside[request] += 1 if begins else -1
        several = sum(number > 0 for number in inside.values()) > 1
        if several and since == NEVER:
            since = at
        elif not several and since != NEVER:
            found.append((since, at))
            since = NEVER
        if not inside[request]:
            del inside[request]
    return found


def _figures(
    requests: Iterable[Request], grants: Iterable[GrantRecord], moments: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Yield acknowledged, unknown, the counter and failed at these moments."""
    ends = sorted((one.end_ns, one.outcome) for one in requests)
    writes = sorted((grant.wrote_ns, grant.part, grant.wrote) for grant in grants if grant.wrote is not None)
    counts, parts = dict.fromkeys(Outcome, 0), dict[str, int]()
    answered, wrote = 0, 0
    for moment in moments:
        while answered < len(ends) and ends[answered][0] <= moment:
            counts[ends[answered][1]] += 1
            answered += 1
        while wrote < len(writes) and writes[wrote][0] <= moment:
            parts[writes[wrote][1]] = writes[wrote][2]
            wrote += 1
        yield moment, [counts[Outcome.ACKNOWLEDGED], counts[Outcome.UNKNOWN], sum(parts.values()), counts[Outcome.FAILED]]
