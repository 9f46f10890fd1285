"""Choose where a picture of a run opens: at a loss, a fault, or the result of the claim under test, from the judge's findings.

A claim about liveness, or about a count, can break although no increment is lost. Each of these claims has its happenings here,
the clearest first: the request that was overtaken most, the longest idle time of the lock, two requests that wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from app.lock import Claim
from lab.evidence.fault_record import AT_THE_STORE
from lab.evidence.loss import Loss, Mechanism
from lab.judge.fact import Wait, deadlock, short_key
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.story.happening import Happening, Kind
from lab.story.timeline import NEVER, DrawnGrant, DrawnLoss, Timeline


class ClaimStory(msgspec.Struct, frozen=True):
    """Tell how the claim under test held or broke."""

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
        freed = Happening(Kind.INNER_FREED, actor=one.request, place=one.replica, key=short_key(one.key))
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


UNLOCKED = (Mechanism.NO_LOCK, Mechanism.PROCESS_LOCAL)  # many requests are inside at once: most of their losses are tangled
FIRST_GRANTS = 30  # in the opening of a picture without a loss, a fault or a story


class Focus(msgspec.Struct):
    """The place at which a picture opens: a loss by its mechanism, a fault by its name, or a span of time."""

    # when it began
    at_ns: int = 0
    mechanism: Mechanism | None = None
    fault: str = ""
    span: tuple[int, int] | None = None


def focus_of(judgement: Judgement, findings: Findings) -> Focus:
    """Return the first violation, of the claim under test if possible, or its story; else a fault, the story, or the start.

    If there are several faults, one of the lock's store comes first.
    """
    own_first = sorted(judgement.violations, key=lambda violation: violation.claim != judgement.claim)
    for violation in own_first:
        match violation.evidence[:1]:
            case [Loss() as loss]:
                return Focus(loss.culprit.got_ns, mechanism=violation.mechanism)
            case [FaultOutcome() as outcome]:
                return Focus(outcome.record.at_ns, fault=outcome.record.name)
    story = claim_story(findings)
    whole = Focus(story.until_ns, span=(story.since_ns, story.until_ns)) if story is not None and story.until_ns else None
    if whole is not None and own_first and own_first[0].claim == judgement.claim:
        return whole
    for outcome in sorted(findings.faults, key=lambda outcome: outcome.record.effect not in AT_THE_STORE)[:1]:
        return Focus(outcome.record.at_ns, fault=outcome.record.name)
    return whole or Focus(findings.origin_ns)


def loss_in_focus(picture: Timeline, mechanism: Mechanism | None) -> int:
    """Return the place of the first loss by that mechanism whose stamps show everything; else of the first; else NEVER."""
    alike = [place for place, loss in enumerate(picture.losses) if picture.mechanisms[loss.mechanism] == mechanism]
    clear = [place for place in alike if _shows_both(picture, picture.losses[place])]
    if mechanism == Mechanism.DELETED_BY_ANOTHER:  # prefer a loss whose picture shows the thief as well
        clear.sort(key=lambda place: not _shows_thief(picture, picture.losses[place]))
    if mechanism in UNLOCKED:  # prefer the plainest loss: both read one number, and write the next
        clear.sort(key=lambda place: not _is_plain(picture.held[picture.losses[place].culprit]))
    return next(iter([*clear, *alike]), NEVER)


def opening(picture: Timeline) -> tuple[int, int]:
    """Return the span that the picture shows first: the story, and two TTLs around it, or less if the story is short.

    A wait is a span of its own, and needs little around it.
    """
    since, until = _story_span(picture)
    if picture.about == (NEVER, NEVER) and picture.focus == picture.focus_fault == NEVER:
        return 0, max(1, until)
    length = max(until - since, 1000)
    margin = 2 * picture.ttl or length // 2
    if picture.focus_fault == NEVER:
        margin = min(margin, length // 2 if picture.focus == NEVER else 2 * length)
    return max(0, since - margin), max(1, min(picture.end, until + margin))


def _story_span(picture: Timeline) -> tuple[int, int]:
    """Return the span of the loss at which the picture opens, or of its fault, of the claim's story, or of the first grants."""
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        both = [picture.held[place] for place in (loss.culprit, loss.victim) if place != NEVER]
        faults = [fault.at for fault in picture.faults if fault.request in {held.request for held in both}]
        return min([held.got for held in both] + faults), max(max(held.until, held.wrote_at) for held in both)
    if picture.focus_fault != NEVER:
        fault = picture.faults[picture.focus_fault]
        return fault.at, max(fault.at, min(fault.recovered, picture.end), fault.next_got)
    if picture.about != (NEVER, NEVER):
        return picture.about
    grants = [held.until for held in picture.held[:FIRST_GRANTS]]
    return 0, max(grants, default=picture.end)


def _shows_both(picture: Timeline, loss: DrawnLoss) -> bool:
    """Return whether the victim is known, and its write comes before the culprit's. Damaged evidence may have no such order."""
    grants = picture.held
    return loss.victim != NEVER and grants[loss.victim].wrote_moment < grants[loss.culprit].wrote_moment


def _is_plain(culprit: DrawnGrant) -> bool:
    """Return whether a write left the number that it replaced: the counter does not grow, and does not go back."""
    return culprit.wrote is not None and culprit.wrote == culprit.overwrote


def _shows_thief(picture: Timeline, loss: DrawnLoss) -> bool:
    """Return whether the store's events name another request that deleted the lock of the older of the loss's two grants."""
    grants = picture.held
    elder = min((loss.culprit, loss.victim), key=lambda place: grants[place].got)
    lease = picture.lease(grants[elder])
    return lease is not None and lease.how == "del" and lease.by not in (NEVER, elder)
