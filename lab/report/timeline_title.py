"""The title of a still timeline: one sentence with a subject, a verb and a number, that states what the picture shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lab.report.caption import in_the_work, ms
from lab.report.chart import amount
from lab.report.timeline_votes import answers
from lab.story import say
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Timeline
from lab.text import thousands

LONGEST = 110  # letters: a longer title leaves out what the run lost
A_NUMBER = re.compile(r"\b\d{4,}\b")


def finding(picture: Timeline) -> str:
    """Return what the picture shows: its loss, its fault, the story of the claim, or the grants that are in view."""
    if picture.focus != NEVER:
        words, cost = _of_a_loss(picture), True
    elif picture.focus_fault != NEVER:
        words, cost = _of_a_fault(picture, picture.faults[picture.focus_fault])
    elif picture.claim_title:
        words, cost = A_NUMBER.sub(lambda number: thousands(int(number[0])), picture.claim_title), False
    else:
        words, cost = _of_grants(picture), True
    title = f"{picture.stage}: {words}"
    with_cost = f"{title}; {_lost(picture)}"
    return with_cost if cost and len(with_cost) <= LONGEST else title


def _of_a_loss(picture: Timeline) -> str:
    loss = picture.losses[picture.focus]
    culprit = picture.held[loss.culprit]
    wrote = f"{culprit.request} writes {culprit.wrote} over {culprit.overwrote}"
    return f"{wrote} ({say.mechanism(picture.mechanisms[loss.mechanism])})"


def _of_a_fault(picture: Timeline, fault: DrawnFault) -> tuple[str, bool]:
    """Return what followed from a fault, and whether the run's loss belongs to it."""
    kind = f"“{fault.kind.replace('_', ' ')}”"
    got = in_the_work(picture)
    died = fault.back != NEVER
    if fault.next_got == NEVER:
        rest = f"{(picture.end - fault.at) / 1e6:.1f} s"
        in_vain = sum(waited.gave_up > fault.at for waited in picture.waited)
        gave_up = f"; {amount(in_vain, 'request')} gave up" if in_vain else ""
        if died:
            return f"{fault.request} died, and no other request {got} in the next {rest}{gave_up}", False
        return f"no other request {got} in the {rest} after the fault {kind}{gave_up}", False
    own = [held for held in picture.held if held.request == fault.request]
    refused = next((held for held in own if held.is_refused), None)
    if refused is not None:
        second = "second " if fault.failpoint.startswith("write_again") else ""
        return f"the resource refused the late {second}write of {fault.request}{_why(picture, refused)}", True
    after = ms(fault.next_got - fault.at)
    got += _votes(picture, fault)
    if any(held.is_abandoned for held in own):
        return f"{fault.request} gave its work up, and {fault.next_request} {got} {after} after the fault {kind}", True
    if died:
        return f"{fault.next_request} {got} {after} after {fault.request} had died", True
    return f"{fault.next_request} {got} {after} after the fault {kind} in {fault.request}", True


def _votes(picture: Timeline, fault: DrawnFault) -> str:
    """Return how many servers voted for the first request that got the lock after a fault; empty where nothing is voted on."""
    place = next((place for place, held in enumerate(picture.held) if held.got == fault.next_got), NEVER)
    given = len(answers(picture, place)["granted"]) if picture.votes and place != NEVER else 0
    return f" with {given} of {len(picture.voters)} votes" if given else ""


def _why(picture: Timeline, refused: DrawnGrant) -> str:
    """Return by which number a resource refused a write: its fence; without one, how many such writes the picture has."""
    if refused.fences is not None:
        own, seen = refused.fences
        return f": its fence {own} is {f'older than {seen}' if own < seen else 'that of another owner as well'}"
    others = sum(held.is_refused for held in picture.held) - 1
    return f" and {amount(others, 'other write')}" if others > 0 else ""


def _of_grants(picture: Timeline) -> str:
    """Return what the grants in view have in common: renewals, keys, a hand-over inside a replica, or only their number."""
    since, until = picture.opens
    visible = [held for held in picture.held if since <= held.got <= until]
    if not picture.is_locked:
        most = _most_at_once(visible)
        return f"up to {amount(most, 'request')} {'was' if most == 1 else 'were'} in the work at once"
    renewals = sum(one.succeeded and picture.renews(one) and since <= one.at <= until for one in picture.renewals)
    longest = max((held.until - held.got for held in visible), default=0)
    if renewals and picture.ttl and longest > picture.ttl:
        kept = f"{amount(renewals, 'renewal')} kept {amount(len(visible), 'lock')} for up to {ms(longest)}"
        return f"{kept} at a TTL of {ms(picture.ttl)}"
    keys = len({held.key for held in visible})
    if keys > 1:
        return f"up to {amount(_most_at_once(visible), 'request')} held {keys} locks at once"
    if picture.asked_store and (handed := _most_handed_over(visible)) > 1:
        return f"up to {amount(handed, 'request')} of a replica had the lock in turn with 1 grant of the store"
    start = f" from {since / 1e6:.2f} s on" if since >= 10_000 else ""
    return f"{amount(len(visible), 'request')} {in_the_work(picture)} within {ms(until - since)}{start}"


def _most_at_once(grants: Iterable[DrawnGrant]) -> int:
    """Return how many requests were in the work at the same time, at most."""
    turns = Counter[int]()
    for held in grants:
        turns[held.got] += 1
        turns[held.until] -= 1
    most = number = 0
    for at in sorted(turns):
        number += turns[at]
        most = max(most, number)
    return most


def _most_handed_over(grants: Iterable[DrawnGrant]) -> int:
    """Return how many requests of one replica shared a grant of the store, at most: only the first of them sent commands."""
    most = number = 0
    for held in sorted(grants, key=lambda held: (held.replica, held.got)):
        number = number + 1 if not held.commands else 1
        most = max(most, number)
    return most


def _lost(picture: Timeline) -> str:
    return f"the run lost {amount(picture.lost, 'increment')}" if picture.lost > 0 else "the run lost no increment"
