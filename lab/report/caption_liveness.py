"""The story of a claim that can break without a loss: which request waited, was overtaken, or did its work again.

One story for each such claim, from the findings alone.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from app.lock import Claim
from lab.judge.examples import Wait, deadlock, short
from lab.judge.findings import Findings
from lab.text import counted, thousands


class ClaimStory(msgspec.Struct, frozen=True):
    """What happened to the claim under test."""

    # a sentence without its full stop
    words: str
    # the same in a few words, for a title
    title: str
    # its span, in CLOCK_MONOTONIC nanoseconds; both 0 for the whole run
    since_ns: int = 0
    until_ns: int = 0


def claim_story(findings: Findings) -> ClaimStory | None:
    """Return the story of the claim under test; None without a story for it, or without any grant or wait."""
    story = STORIES.get(findings.run.tests)
    return story(findings) if story is not None and (findings.waits_ns or findings.in_vain) else None


def _at(findings: Findings, at_ns: int) -> str:
    return f"+{max(0, at_ns - findings.origin_ns) / 1e9:.2f} s"


def _fair(findings: Findings) -> ClaimStory:
    one, grants = findings.overtaken, thousands(len(findings.waits_ns))
    if one is None:
        words = f"No request was overtaken: the {grants} grants went in the order in which the requests had asked"
        return ClaimStory(words, f"none of {grants} grants overtook a request that had asked earlier")
    asked, waited_ms = _at(findings, one.asked_ns), (one.got_ns - one.asked_ns) / 1e6
    return ClaimStory(
        f"{one.request} at {one.replica} was overtaken most: it asked for the lock at {asked} and got it after {_ms(waited_ms)}; "
        f"meanwhile {thousands(one.overtaken)} of {grants} grants went to requests that had asked later",
        f"{one.request} waited {_ms(waited_ms)} while {thousands(one.overtaken)} later requests got the lock",
        one.asked_ns,
        one.got_ns,
    )


def _prompt_handover(findings: Findings) -> ClaimStory | None:
    idle, one = sorted(findings.idle_ns), findings.idlest
    if one is None:
        return None
    median = _ms(idle[len(idle) // 2] / 1e6)
    return ClaimStory(
        f"In half of {counted(len(idle), 'hand-over')} the lock stayed free for {median} or more while a request waited; "
        f"the longest time, {one.taken_by} got it {_ms(one.ms)} after {one.released_by} had begun its release "
        f"at {_at(findings, one.releasing_ns)}",
        f"half of {counted(len(idle), 'hand-over')} took {median} or more, the longest {_ms(one.ms)}",
        one.releasing_ns,
        one.got_ns,
    )


def _counts_once(findings: Findings) -> ClaimStory:
    waited, tries = findings.measures["waited"], len(findings.waits_ns)
    if not findings.repeated:
        return ClaimStory(
            f"No request did its work twice, although {thousands(waited)} of {thousands(tries)} grants needed a wait",
            f"none of {thousands(tries)} requests did its work twice",
        )
    most = findings.repeated[0]
    beyond = f"{counted(findings.duplicated, 'write')} more than one for each request"
    return ClaimStory(
        f"{most.request} did its work {most.times} times; all requests together made {beyond}",
        f"{most.request} did its work {most.times} times, and the run made {thousands(findings.duplicated)} writes too many",
    )


def _reentrant(findings: Findings) -> ClaimStory | None:
    if (one := findings.freed_first) is not None:
        words = (
            f"{one.request} at {one.replica} took {_named(short(one.key))} twice; the inner release freed it, "
            "and the outer release found nothing to release"
        )
        title = f"{one.request} took a lock twice, and its inner release freed the lock for others"
        return ClaimStory(words, title, one.asked_ns, one.released_ns)
    gave_up = next((wait for wait in findings.in_vain if wait.holding == wait.wanted), None)
    wait = gave_up or findings.longest_own or findings.longest
    if wait is None or not findings.run.nested:
        return None
    held = f"{wait.request} at {wait.replica} held {_named(wait.wanted)} and asked for it again:"
    if not wait.got:
        words = f"{held} it waited for itself and gave up after {_ms(wait.ms)}"
        title = f"{wait.request} waited {_ms(wait.ms)} for a lock that it held itself, and gave up"
    elif findings.run.ttl_ms and wait.ms >= findings.run.ttl_ms:
        words = f"{held} it waited for itself for {_ms(wait.ms)}, until its own lease of {findings.run.ttl_ms} ms had ended"
        title = f"{wait.request} waited {_ms(wait.ms)} for a lock that it held itself"
    else:
        words = f"{held} it had both grants within {_ms(wait.ms)}, and no request took longer"
        title = f"{wait.request} took the lock twice within {_ms(wait.ms)}, and no request took longer"
    return ClaimStory(words, title, wait.asked_ns, wait.until_ns)


def _reenters_only_its_own(findings: Findings) -> ClaimStory | None:
    if not findings.reentered:
        met = counted(findings.measures["met_a_left_lock"], "request")
        fault = next(iter(findings.faults), None)
        if fault is None or not fault.next_got_ns:
            return None
        words = (
            f"{fault.record.request} at {fault.record.replica} failed and left its lock behind; {met} of that replica asked for "
            f"it before its TTL was over, and none entered; {fault.next_request} got it after {_ms(fault.idle_ms or 0)}"
        )
        return ClaimStory(
            words, f"{met} asked for a lock that was left behind, and none entered", fault.record.at_ns, fault.next_got_ns
        )
    one, number = findings.reentered[0], findings.measures["reentered"]
    left, entered = _at(findings, one.left_ns), _at(findings, one.got_ns)
    words = (
        f"{one.left_by} at {one.replica} failed at {left} and left its lock behind; {one.request} entered it at {entered}, "
        f"and {counted(number, 'request')} did so in all"
    )
    return ClaimStory(
        words, f"{counted(number, 'request')} entered the lock that {one.left_by} had left", one.left_ns, one.got_ns
    )


def _breaks_deadlock(findings: Findings) -> ClaimStory | None:
    both = deadlock(findings.in_vain)
    if both is not None:
        one, other = both
        words = (
            f"{_held_and_wanted(one)}, while {_held_and_wanted(other)}: "
            f"they gave up after {_ms(one.ms)} and {_ms(other.ms)}, and {counted(findings.gave_up, 'request')} gave up in all"
        )
        title = f"{one.request} and {other.request} waited for each other for {_ms(min(one.ms, other.ms))}, and gave up"
        return ClaimStory(words, title, min(one.asked_ns, other.asked_ns), max(one.until_ns, other.until_ns))
    wait = findings.in_vain[0] if findings.in_vain else findings.longest
    if wait is None:
        return None
    if not wait.got:
        words = f"{wait.request} at {wait.replica} waited for {_named(wait.wanted)} and gave up after {_ms(wait.ms)}"
        title = f"{wait.request} waited {_ms(wait.ms)} for a lock, and gave up"
    else:
        words = f"No deadlock lasted: the slowest request, {wait.request} at {wait.replica}, had both locks after {_ms(wait.ms)}"
        title = f"no deadlock lasted, and the slowest request had both locks after {_ms(wait.ms)}"
    return ClaimStory(words, title, wait.asked_ns, wait.until_ns)


def _loses_no_wakeup(findings: Findings) -> ClaimStory | None:
    if not findings.in_vain:
        return None
    wait = findings.in_vain[0]
    words = f"{wait.request} at {wait.replica} began to wait when the lock was released already, and gave up after {_ms(wait.ms)}"
    title = f"{wait.request} waited {_ms(wait.ms)} for a lock that was free, and gave up"
    return ClaimStory(words, title, wait.asked_ns, wait.until_ns)


def _held_and_wanted(wait: Wait) -> str:
    return f"{wait.request} held {_named(wait.holding)} and waited for {_named(wait.wanted)}"


def _named(key: str) -> str:
    return f"“{key}”" if key else "a lock"


def _ms(value: float) -> str:
    return f"{thousands(value)} ms" if value >= 10 else f"{value:.2g} ms"


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
