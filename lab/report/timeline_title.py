"""The title of a still timeline: one sentence with a subject, a verb and a number, that states what the picture shows."""

from __future__ import annotations

from lab.report.caption import in_the_work
from lab.report.chart import amount
from lab.report.timeline_model import NEVER, Timeline
from lab.text import thousands


def finding(picture: Timeline) -> str:
    """Return what the picture shows: its loss, its fault, the story of the claim, or the grants that are in view."""
    if picture.focus != NEVER:
        return f"{picture.stage}: {_of_a_loss(picture)}"
    if picture.focus_fault != NEVER:
        return f"{picture.stage}: {_of_a_fault(picture)}"
    if picture.claim_title:
        return f"{picture.stage}: {picture.claim_title}"
    return f"{picture.stage}: {_of_grants(picture)}"


def _of_a_loss(picture: Timeline) -> str:
    loss = picture.losses[picture.focus]
    culprit = picture.held[loss.culprit]
    wrote = f"{culprit.request} writes {culprit.wrote} over {culprit.overwrote}"
    return f"{wrote} ({picture.mechanisms[loss.mechanism]}); {_lost(picture)}"


def _of_a_fault(picture: Timeline) -> str:
    fault = picture.faults[picture.focus_fault]
    kind = f"“{fault.kind.replace('_', ' ')}”"
    got = in_the_work(picture)
    if fault.next_got == NEVER:
        rest = f"{(picture.end - fault.at) / 1e6:.1f} s after the fault {kind}"
        in_vain = sum(waited.gave_up > fault.at for waited in picture.waited)
        gave_up = f", and {amount(in_vain, 'request')} gave up" if in_vain else ""
        return f"no other request {got} in the {rest}{gave_up}"
    if any(held.is_refused and held.request == fault.request for held in picture.held):
        second = "second " if fault.failpoint.startswith("write_again") else ""
        return f"the resource refused the late {second}write of {fault.request}; {_lost(picture)}"
    return f"{fault.next_request} {got} {ms(fault.next_got - fault.at)} after the fault {kind}"


def _of_grants(picture: Timeline) -> str:
    since, until = picture.opens
    grants = sum(since <= held.got <= until for held in picture.held)
    got = in_the_work(picture)
    start = f" from {since / 1e6:.2f} s on" if since >= 10_000 else ""
    return f"{amount(grants, 'request')} {got} within {ms(until - since)}{start}; {_lost(picture)}"


def _lost(picture: Timeline) -> str:
    return f"the run lost {amount(picture.lost, 'increment')}" if picture.lost > 0 else "the run lost no increment"


def ms(us: int) -> str:
    """Return a duration as the title has it."""
    return f"{thousands(us / 1000)} ms" if us >= 10_000 else f"{us / 1000:.1f} ms"
