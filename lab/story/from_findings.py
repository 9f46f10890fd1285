"""How the claim under test fared, as happenings, where it breaks without a loss: from the findings of the judge alone.

A liveness claim, or one that counts, breaks without any increment lost. Which request was overtaken most, for how long was the
lock idle, which two waited for each other: each such claim has its happenings here, the clearest first.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from app.lock import Claim
from lab.judge.fact import Wait, deadlock, short
from lab.judge.findings import Findings
from lab.story.happening import Happening, Kind


class ClaimStory(msgspec.Struct, frozen=True):
    """How the claim under test fared."""

    happened: tuple[Happening, ...]
    # its span, in CLOCK_MONOTONIC nanoseconds; both 0 for the whole run
    since_ns: int = 0
    until_ns: int = 0


def claim_story(findings: Findings) -> ClaimStory | None:
    """Return the story of the claim under test; None without a story for it, or without any grant or wait."""
    story = STORIES.get(findings.run.tests)
    return story(findings) if story is not None and (findings.waits_ns or findings.in_vain) else None


def _at_ms(findings: Findings, at_ns: int) -> float:
    return max(0, at_ns - findings.origin_ns) / 1e6


def _fair(findings: Findings) -> ClaimStory:
    one, grants = findings.overtaken, len(findings.waits_ns)
    if one is None:
        return ClaimStory((Happening(Kind.NOT_OVERTAKEN, number=grants),))
    overtaken = Happening(
        Kind.OVERTAKEN,
        _at_ms(findings, one.asked_ns),
        one.request,
        number=one.overtaken,
        of=grants,
        place=one.replica,
        for_ms=(one.got_ns - one.asked_ns) / 1e6,
    )
    return ClaimStory((overtaken,), one.asked_ns, one.got_ns)


def _prompt_handover(findings: Findings) -> ClaimStory | None:
    times = sorted((idle for idle in findings.idle_times if idle.taken_by), key=lambda idle: idle.ms)
    if not times:
        return None
    one = times[-1]
    half = Happening(Kind.HANDED_OVER, number=len(times), for_ms=times[len(times) // 2].ms)
    at_ms = _at_ms(findings, one.releasing_ns)
    longest = Happening(Kind.LONGEST_HANDOVER, at_ms, one.taken_by, (one.released_by,), for_ms=one.ms)
    return ClaimStory((half, longest), one.releasing_ns, one.got_ns)


def _counts_once(findings: Findings) -> ClaimStory:
    if not findings.repeated:
        tries = Happening(Kind.NOT_REPEATED, number=findings.measures["waited"], of=len(findings.waits_ns))
        return ClaimStory((tries,))
    most = findings.repeated[0]
    beyond = Happening(Kind.WRITTEN_TOO_OFTEN, number=findings.duplicated)
    return ClaimStory((Happening(Kind.REPEATED, actor=most.request, number=most.times), beyond))


def _reentrant(findings: Findings) -> ClaimStory | None:
    if (one := findings.freed_first) is not None:
        freed = Happening(Kind.INNER_FREED, actor=one.request, place=one.replica, key=short(one.key))
        return ClaimStory((freed,), one.asked_ns, one.released_ns)
    gave_up = next((wait for wait in findings.in_vain if wait.holding == wait.wanted), None)
    wait = gave_up or findings.longest_own or findings.longest
    if wait is None or not findings.run.nested:
        return None
    waited_for_lease = 0 < findings.run.ttl_ms <= wait.ms
    kind = Kind.WAITED_FOR_ITSELF if waited_for_lease else Kind.REENTERED
    happened = _waited(kind if wait.got else Kind.WAITED_FOR_ITSELF_IN_VAIN, wait, findings.run.ttl_ms)
    return ClaimStory((happened,), wait.asked_ns, wait.until_ns)


def _waited(kind: Kind, wait: Wait, ttl_ms: float = 0) -> Happening:
    return Happening(kind, actor=wait.request, place=wait.replica, key=wait.wanted, for_ms=wait.ms, ttl_ms=ttl_ms)


def _reenters_only_its_own(findings: Findings) -> ClaimStory | None:
    if not findings.reentered:
        fault = next(iter(findings.faults), None)
        if fault is None or not fault.next_got_ns:
            return None
        record = fault.record
        happened = (
            Happening(Kind.LEFT_LOCK, _at_ms(findings, record.at_ns), record.request, place=record.replica),
            Happening(Kind.NONE_ENTERED, number=findings.measures["met_a_left_lock"]),
            Happening(Kind.GOT_LEFT_LOCK, actor=fault.next_request, for_ms=fault.idle_ms or 0),
        )
        return ClaimStory(happened, record.at_ns, fault.next_got_ns)
    one, number = findings.reentered[0], findings.measures["reentered"]
    happened = (
        Happening(Kind.LEFT_LOCK, _at_ms(findings, one.left_ns), one.left_by, place=one.replica),
        Happening(Kind.ENTERED_LEFT_LOCK, _at_ms(findings, one.got_ns), one.request),
        Happening(Kind.ALL_ENTERED, others=(one.left_by,), number=number),
    )
    return ClaimStory(happened, one.left_ns, one.got_ns)


def _breaks_deadlock(findings: Findings) -> ClaimStory | None:
    both = deadlock(findings.in_vain)
    if both is not None:
        one, other = both
        happened = (
            Happening(Kind.DEADLOCK, actor=one.request, others=(other.request,), for_ms=min(one.ms, other.ms)),
            *(
                Happening(Kind.HELD_AND_GAVE_UP, actor=wait.request, key=wait.holding, wanted=wait.wanted, for_ms=wait.ms)
                for wait in both
            ),
            Happening(Kind.ALL_GAVE_UP, number=findings.gave_up),
        )
        return ClaimStory(happened, min(one.asked_ns, other.asked_ns), max(one.until_ns, other.until_ns))
    wait = findings.in_vain[0] if findings.in_vain else findings.longest
    if wait is None:
        return None
    waited = _waited(Kind.NO_DEADLOCK if wait.got else Kind.WAITED_IN_VAIN, wait)
    return ClaimStory((waited,), wait.asked_ns, wait.until_ns)


def _loses_no_wakeup(findings: Findings) -> ClaimStory | None:
    if not findings.in_vain:
        return None
    wait = findings.in_vain[0]
    return ClaimStory((_waited(Kind.WAITED_FOR_FREE, wait),), wait.asked_ns, wait.until_ns)


STORIES: dict[str, Callable[[Findings], ClaimStory | None]] = {
    Claim.fair.name: _fair,
    Claim.fair_in_process.name: _fair,
    Claim.prompt_handover.name: _prompt_handover,
    Claim.counts_once.name: _counts_once,
    Claim.reentrant.name: _reentrant,
    Claim.reenters_only_its_own.name: _reenters_only_its_own,
    Claim.breaks_deadlock.name: _breaks_deadlock,
    Claim.loses_no_wakeup.name: _loses_no_wakeup,
}
