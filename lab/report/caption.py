"""The caption of a timeline: one sentence for what it shows, from its evidence alone.

A mechanism without a sentence of its own is described by its reads and writes, and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from lab.evidence.fault_effect import AT_THE_STORE, Effect
from lab.evidence.mechanism import Mechanism
from lab.report.chart import amount
from lab.story import say
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, DrawnLoss, Life, Timeline
from lab.text import counted, thousands


def caption(picture: Timeline) -> str:
    """Return the story of the claim under test, if it has one, and of the loss or the fault on which the picture opens.

    Without either, the caption says what the run wrote.
    """
    when = _clock(picture)
    if picture.focus != NEVER:
        of_a_loss = _of_a_loss(picture, when)
        return f"{picture.claim_story}. {of_a_loss}" if picture.claim_story else of_a_loss
    if picture.focus_fault != NEVER:
        return _of_a_fault(picture, picture.faults[picture.focus_fault], when)
    return f"{picture.claim_story}; {_cost(picture)}." if picture.claim_story else _of_a_quiet_run(picture)


Clock = Callable[[float], str]
SHORTEST = 10_000  # µs: a fault that is over at once, such as an exception or a lost reply, has no duration to report


def _clock(picture: Timeline) -> Clock:
    """Return a format for times in seconds, with as many decimals as the moments in the caption need."""
    moments = sorted(_moments(picture))
    gap = min((later - sooner for sooner, later in pairwise(moments) if later > sooner), default=NEVER)
    decimals = next((places for places, least in ((2, 10_000), (3, 1000), (4, 100)) if gap >= least), 5)
    return lambda at: f"+{at / 1e6:.{2 if gap == NEVER else decimals}f} s"


def _moments(picture: Timeline) -> list[int]:
    """Return the moments that the caption names."""
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        both = [picture.held[place] for place in (loss.culprit, loss.victim) if place != NEVER]
        elder = min(both, key=lambda held: held.got)
        leases = [picture.lives[elder.lease]] if elder.lease != NEVER else []
        ends = [life.due if life.how == "expired" else life.gone for life in leases]
        return [int(max(held.read_moment for held in both)), *ends, *(int(held.wrote_moment) for held in both)]
    fault = picture.faults[picture.focus_fault] if picture.focus_fault != NEVER else None
    return [] if fault is None or fault.next_got == NEVER else [fault.at, fault.next_got]


class _Step(NamedTuple):
    """What happened at one moment. A story has its steps in the order of time."""

    at: float
    words: str
    # whether the words begin with the name of a request, which keeps its small letter
    is_named: bool = True


def _in_order(steps: Sequence[_Step]) -> str:
    """Return the steps as one sentence without its end."""
    ordered = sorted(steps, key=lambda step: step.at)
    text = "; ".join(step.words for step in ordered)
    return text if ordered[0].is_named else text[:1].upper() + text[1:]


@dataclass(frozen=True)
class _Pair:
    """The culprit and the victim of a loss. The elder of the two got the lock first."""

    picture: Timeline
    culprit: DrawnGrant
    victim: DrawnGrant
    when: Clock

    @property
    def elder(self) -> DrawnGrant:
        return min(self.culprit, self.victim, key=lambda held: held.got)

    @property
    def younger(self) -> DrawnGrant:
        return max(self.culprit, self.victim, key=lambda held: held.got)

    @property
    def lease(self) -> Life | None:
        """Return the life of the elder's key at the store."""
        return self.picture.lives[self.elder.lease] if self.elder.lease != NEVER else None

    def name(self, held: DrawnGrant) -> str:
        return f"{held.request} at {self.picture.replicas[held.replica]}"

    def reads_inside(self, where: str = "") -> _Step:
        """Describe the read of the younger, at a time when the elder was inside."""
        read = f"{_read(self.younger)} at {self.when(self.younger.read_moment)}"
        words = f"{self.name(self.younger)} {read} while {self.elder.request} was still inside{where}"
        return _Step(self.younger.read_moment, words)

    def writes(self) -> _Step:
        """Describe both writes: at the second of them the increment was lost."""
        victim, culprit = self.victim, self.culprit
        wrote_at = self.when(culprit.wrote_moment)
        if victim.wrote_moment > culprit.wrote_moment:  # the evidence admits no order of the two
            words = f"{culprit.request} wrote {culprit.wrote} at {wrote_at} over {victim.request}'s {victim.wrote}"
        else:
            words = (
                f"{victim.request} wrote {victim.wrote} at {self.when(victim.wrote_moment)} "
                f"and {culprit.request} wrote {culprit.wrote} over {_it(culprit, victim)} at {wrote_at}"
            )
        return _Step(culprit.wrote_moment, words)


def _it(culprit: DrawnGrant, victim: DrawnGrant) -> str:
    return "it" if culprit.overwrote == victim.wrote else str(culprit.overwrote)


def _read(held: DrawnGrant) -> str:
    return "came in" if held.read is None else f"read {held.read}"


def _of_a_loss(picture: Timeline, when: Clock) -> str:
    loss = picture.losses[picture.focus]
    mechanism = picture.mechanisms[loss.mechanism]
    culprit = picture.held[loss.culprit]
    heading = ""
    if loss.victim == NEVER:
        name = f"{culprit.request} at {picture.replicas[culprit.replica]}"
        words = (
            f"{name} {_read(culprit)} at {when(culprit.read_moment)} and wrote {culprit.wrote} "
            f"over {culprit.overwrote} at {when(culprit.wrote_moment)}"
        )
        steps = [_Step(culprit.wrote_moment, words)]
    else:
        pair = _Pair(picture, culprit, picture.held[loss.victim], when)
        heading = _heading(pair, mechanism)
        steps = LOSSES.get(mechanism, _otherwise)(pair)
    named = "" if mechanism in LOSSES else f" ({say.mechanism(mechanism)})"
    story = _in_order([*steps, *_fault(picture, loss, when), *_renewal_that_failed(picture, loss, when)])
    return f"{heading}{story}{named}: {_price(picture, loss.destroyed)}."


def _price(picture: Timeline, destroyed: int) -> str:
    """Return how many increments the run lost. Later writes may bring back what this write overwrote: it has no figure."""
    if picture.lost <= 0:
        return "later writes brought back what was overwritten, and the run lost no increment"
    return (
        f"{counted(destroyed, 'increment')} lost"
        if destroyed == picture.lost
        else f"the whole run lost {amount(picture.lost, 'increment')}"
    )


def _fault(picture: Timeline, loss: DrawnLoss, when: Clock) -> list[_Step]:
    """Describe the fault whose failpoint one of the two reached, of the store if possible; nothing without one."""
    requests = {picture.held[place].request for place in (loss.culprit, loss.victim) if place != NEVER}
    of_the_store_first = sorted(picture.faults, key=lambda fault: fault.effect not in AT_THE_STORE)
    fault = next((fault for fault in of_the_store_first if fault.request in requests), None)
    if fault is None:
        return []
    return [_Step(fault.at, f"the fault {_kind(fault)} began in {fault.request} at {when(fault.at)}{_lasting(fault)}", False)]


def _renewal_that_failed(picture: Timeline, loss: DrawnLoss, when: Clock) -> list[_Step]:
    """Describe the first renewal that failed in the replica of one of the two: no request reaches its failpoint."""
    replicas = {picture.held[place].replica for place in (loss.culprit, loss.victim) if place != NEVER}
    failed = [fault for fault in picture.faults if fault.effect is Effect.RENEWAL_FAILS and fault.replica in replicas]
    where = picture.replicas
    return [_Step(one.at, f"a renewal at {where[one.replica]} failed at {when(one.at)}", False) for one in failed[:1]]


def _lasting(fault: DrawnFault) -> str:
    lasted = fault.back == NEVER and fault.recovered - fault.at >= SHORTEST
    return f" and lasted {ms(fault.recovered - fault.at)}" if lasted else ""


def _kind(fault: DrawnFault) -> str:
    return f"“{fault.kind.replace('_', ' ')}”"


def _ran_out(pair: _Pair) -> list[_Step]:
    return [pair.reads_inside(), _lease_ended(pair), pair.writes()]


def _lease_ended(pair: _Pair) -> _Step:
    lease, ttl = pair.lease, pair.picture.ttl
    whose = f"{pair.elder.request}'s lease of {ttl / 1000:.0f} ms" if ttl else f"{pair.elder.request}'s lease"
    if lease is None or lease.gone == NEVER:
        return _Step(pair.younger.read_moment, f"{whose} had ended before")
    # the store reports an expiry late; where its clock jumped, the key was gone before its time
    ended = min(lease.due, lease.gone) if lease.how == "expired" and lease.due != NEVER else lease.gone
    return _Step(ended, f"{whose} ended at {pair.when(ended)}")


def _otherwise(pair: _Pair) -> list[_Step]:
    """Describe the reads and the writes. The story of a stale write begins with its read."""
    if pair.elder is not pair.culprit:
        return [pair.reads_inside(), pair.writes()]
    lease, culprit = pair.lease, pair.culprit
    read = _Step(culprit.read_moment, f"{pair.name(culprit)} {_read(culprit)} at {pair.when(culprit.read_moment)}")
    expired = lease is not None and lease.how == "expired" and lease.gone <= pair.victim.wrote_moment
    return [read, *([_lease_ended(pair)] if expired else []), pair.writes()]


def _deleted(pair: _Pair) -> list[_Step]:
    lease = pair.lease
    if lease is not None and lease.how == "expired":  # the store reported another end of this lease
        return _ran_out(pair)
    if lease is None or lease.how != "del" or lease.by == NEVER or pair.picture.held[lease.by] is pair.elder:
        # nobody knows when: before the younger came in
        taken = _Step(pair.younger.got, f"another request deleted {pair.elder.request}'s lock", False)
    else:
        thief, when = pair.picture.held[lease.by], pair.when(lease.gone)
        words = f"{pair.name(thief)} was late with its release and deleted {pair.elder.request}'s lock at {when}"
        taken = _Step(lease.gone, words)
    return [taken, pair.reads_inside(), pair.writes()]


def _no_lock(pair: _Pair) -> list[_Step]:
    where = "in the same process" if pair.elder.replica == pair.younger.replica else f"at {_home(pair, pair.elder)}"
    return [pair.reads_inside(f" {where}"), pair.writes()]


def _process_local(pair: _Pair) -> list[_Step]:
    return [pair.reads_inside(), pair.writes()]


def _home(pair: _Pair, held: DrawnGrant) -> str:
    return pair.picture.replicas[held.replica]


def _granted_twice(pair: _Pair) -> list[_Step]:
    granted = f"the lock was granted to {pair.name(pair.younger)} at {pair.when(pair.younger.got)}"
    words = f"{granted}, though {pair.elder.request} had held it since {pair.when(pair.elder.got)}"
    return [_Step(pair.younger.got, words, False), pair.writes()]


def _heading(pair: _Pair, mechanism: Mechanism) -> str:
    """Return what the story says before its steps."""
    if mechanism == Mechanism.PROCESS_LOCAL:
        return f"{_home(pair, pair.elder)} and {_home(pair, pair.younger)} each have a lock of their own: "
    return "No lock kept the requests apart: " if LOSSES.get(mechanism) is _no_lock else ""


LOSSES: dict[Mechanism, Callable[[_Pair], list[_Step]]] = {
    Mechanism.NO_LOCK: _no_lock,
    Mechanism.PROCESS_LOCAL: _process_local,
    Mechanism.GRANTED_TWICE: _granted_twice,
    Mechanism.GRANTED_TO_TWO: _granted_twice,
    Mechanism.DELETED_BY_ANOTHER: _deleted,
    Mechanism.TTL_OVER_IN_WORK: _ran_out,
}


def ms(us: int) -> str:
    """Return a duration of so many microseconds, as captions and titles have it."""
    return f"{thousands(us / 1000)} ms" if us >= 10_000 else f"{us / 1000:.1f} ms"


def in_the_work(picture: Timeline) -> str:
    """Return the words for a grant. A stage without a lock grants none: its requests enter the work."""
    return "got the lock" if picture.is_locked else "entered the work"


def _of_a_fault(picture: Timeline, fault: DrawnFault, when: Clock) -> str:
    where = picture.replicas[fault.replica] if fault.replica != NEVER else "a replica"
    holder = _holding(picture, fault)
    held = "held the lock" if picture.is_locked else "was in the work"
    if fault.back != NEVER and holder is not None:
        began = f"{fault.request} at {where} {held} when its process died at {when(fault.at)}"
    elif holder is not None:
        began = f"{fault.request} at {where} {held} when the fault {_kind(fault)} began at {when(fault.at)}"
    else:
        began = f"The fault {_kind(fault)} began in {fault.request} at {where} at {when(fault.at)}"
    steps = [
        f"{began}{_lasting(fault)}",
        _aftermath(picture, fault, holder, when),
        _kept_from_writing(picture, fault),
        _cost(picture),
    ]
    return f"{'; '.join(step for step in steps if step)}."


def _holding(picture: Timeline, fault: DrawnFault) -> DrawnGrant | None:
    """Return the grant that the request at the failpoint had when the fault began."""
    return next((held for held in picture.held if held.request == fault.request and held.got <= fault.at <= held.until), None)


def _aftermath(picture: Timeline, fault: DrawnFault, holder: DrawnGrant | None, when: Clock) -> str:
    """Describe what happened to the lock after the fault."""
    if fault.next_got == NEVER:
        return _never_again(picture, fault)
    in_vain = sum(fault.at < waited.gave_up <= fault.next_got for waited in picture.waited)
    after = f"{ms(fault.next_got - fault.at)} after the fault"
    got = f"{fault.next_request} {in_the_work(picture)} at {when(fault.next_got)}, {after}"
    got += f", when {counted(in_vain, 'request')} had given up" if in_vain and picture.is_locked else ""
    life = picture.lives[holder.lease] if holder is not None and holder.lease != NEVER else None
    if life is not None and life.how == "expired" and life.due != NEVER and life.due <= fault.next_got:
        return f"the lease ran out at {when(life.due)}, and {got}"
    return got


def _kept_from_writing(picture: Timeline, fault: DrawnFault) -> str:
    """Describe how the request at the failpoint did not write: its write was refused, or it gave up; empty if it was free to."""
    of_the_fault = [held for held in picture.held if held.request == fault.request]
    if any(held.is_refused for held in of_the_fault):
        write = "second write" if fault.failpoint.startswith("write_again") else "write"
        return f"the resource refused the {write} of {fault.request}"
    if any(held.is_abandoned for held in of_the_fault):
        return f"{fault.request} gave its work up before the write"
    return ""


def _never_again(picture: Timeline, fault: DrawnFault) -> str:
    in_vain = sum(waited.gave_up > fault.at for waited in picture.waited)
    suffered = f", and {counted(in_vain, 'request')} gave up{' waiting' * picture.is_locked}" if in_vain else ""
    return f"no request {in_the_work(picture)} in the {(picture.end - fault.at) / 1e6:.1f} s until the end of the run{suffered}"


def _cost(picture: Timeline) -> str:
    lost = f"{counted(picture.lost, 'increment')} lost" if picture.lost else "no increment was lost"
    return lost + (f", {picture.duplicated} counted twice" if picture.duplicated else "")


def _of_a_quiet_run(picture: Timeline) -> str:
    if not picture.writes:
        return "Nothing was written."
    number = f"{thousands(picture.writes)} increments were" if picture.writes > 1 else "One increment was"
    lost = f"{thousands(picture.lost)} of them {'was' if picture.lost == 1 else 'were'}" if picture.lost > 0 else "none was"
    words = f"{number} written in {picture.end / 1e6:.1f} s, and {lost} lost{_beyond_the_ttl(picture)}"
    if not picture.duplicated:
        return f"{words}."
    again = "was for a request that had" if picture.duplicated == 1 else "were for requests that had"
    return f"{words}; {picture.duplicated} of them {again} already been counted."


def _beyond_the_ttl(picture: Timeline) -> str:
    """Describe the longest holder that is shown, if it held its lock for longer than the TTL: a renewal kept it."""
    longest = max(picture.held, key=lambda held: held.until - held.got, default=None)
    if longest is None or not picture.is_locked or not 0 < picture.ttl < longest.until - longest.got:
        return ""
    held_ms, ttl_ms = (longest.until - longest.got) / 1000, picture.ttl / 1000
    return f", although {longest.request} had the lock for {held_ms:.0f} ms, longer than its TTL of {ttl_ms:.0f} ms"
