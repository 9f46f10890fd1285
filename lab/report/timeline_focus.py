"""What a timeline opens on: a loss, a fault, or the story of the claim under test."""

from __future__ import annotations

import msgspec

from lab.evidence.fault_record import AT_THE_STORE
from lab.evidence.loss import Loss, Mechanism
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement
from lab.story.from_findings import claim_story
from lab.story.timeline import NEVER, DrawnGrant, DrawnLoss, Timeline

UNLOCKED = (Mechanism.NO_LOCK, Mechanism.PROCESS_LOCAL)  # many at once: most of their losses are tangled
FIRST_GRANTS = 30  # in the opening of a picture without a loss, a fault or a story


class Focus(msgspec.Struct):
    """What the run is about: a loss by its mechanism, a fault by its name, or a span of time."""

    # when it began
    at_ns: int = 0
    mechanism: Mechanism | None = None
    fault: str = ""
    span: tuple[int, int] | None = None


def focus_of(judgement: Judgement, findings: Findings) -> Focus:
    """Return the first violation, of the claim under test if possible, or its story; else a fault, the story, or the start.

    Of several faults, one of the lock's store comes first.
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
    if mechanism == Mechanism.DELETED_BY_ANOTHER:  # and if possible the thief as well
        clear.sort(key=lambda place: not _shows_thief(picture, picture.losses[place]))
    if mechanism in UNLOCKED:  # and if possible the plainest: both read one number, and write the next
        clear.sort(key=lambda place: not _is_plain(picture.held[picture.losses[place].culprit]))
    return next(iter([*clear, *alike]), NEVER)


def opening(picture: Timeline) -> tuple[int, int]:
    """Return the span that the picture shows first: the story and two TTLs around it, but never so much that it gets lost."""
    since, until = _story_span(picture)
    if picture.about == (NEVER, NEVER) and picture.focus == picture.focus_fault == NEVER:
        return 0, max(1, until)
    length = max(until - since, 1000)
    margin = 2 * picture.ttl or length // 2
    if picture.focus_fault == NEVER:
        margin = min(margin, 2 * length)
    return max(0, since - margin), max(1, min(picture.end, until + margin))


def _story_span(picture: Timeline) -> tuple[int, int]:
    """Return the span of what the picture is about: a loss, a fault, the claim's story, or else the first grants."""
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
    """Return whether the store's events name the request that deleted the lock of the earlier of the two."""
    grants = picture.held
    elder = min((loss.culprit, loss.victim), key=lambda place: grants[place].got)
    lease = picture.lease(grants[elder])
    return lease is not None and lease.how == "del" and lease.by not in (NEVER, elder)
