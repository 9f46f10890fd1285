"""What really happened in a run, on one linear axis of time: a run folder read into a ``Timeline``, in one streaming pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from app.journal import AnyEvent, GaveUp, Got, Released, Renewed, Started, Writing, Wrote
from lab.evidence.history import Damaged, History, KeyEvent
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.verdict import Judgement
from lab.report.caption_liveness import tale
from lab.report.timeline_leases import HEARD_WITHIN_US, belong
from lab.report.timeline_model import NEVER, DrawnFault, Held, Life, Loss, Renewal, Timeline, Waited, story

LIMIT = 8000  # grants in a picture, and key lives; a longer run is shown around the moment that matters
ENDS = ("del", "expired")  # the events that end a key's life; all others but ``expire`` can begin one
DELETED = "deleted by another"
TOUCHED_AFTER_US = 2_000  # an ``expire`` sooner than this belongs to the grant itself, and is no renewal


def read(folder: Path, judgement: Judgement, findings: Findings, has_store: bool = True, limit: int = LIMIT) -> Timeline:
    """The timeline of a judged run folder. What cannot be read any more (a damaged history) leaves it empty."""
    picture = Timeline(
        run=judgement.run,
        stage=judgement.stage,
        scenario=judgement.scenario,
        ttl=findings.ttl_ms * 1000,
        asked_store=has_store,
        writes=judgement.writes,
        lost=judgement.lost,
        duplicated=judgement.duplicated,
        destroyed=sum(losses.destroyed for losses in findings.losses.values()),
    )
    if (own := tale(findings)) is not None:
        picture.tale = own.words
    focus = _focus(judgement, findings)
    try:
        _Reader(picture, findings, focus, limit).read(History(folder), folder / "losses.jsonl")
    except Damaged:
        return Timeline(run=picture.run, stage=picture.stage, scenario=picture.scenario, asked_store=has_store)
    _stack(picture.held, lambda held: held.replica, lambda held: (held.got, held.until))
    _stack(picture.lives, lambda life: 0, lambda life: (life.born, life.gone if life.gone != NEVER else picture.end))
    picture.opens = opening(picture)
    return picture


class _Focus(msgspec.Struct):
    """What the run is about: a loss by its mechanism, a fault by its name, or a time; when it began."""

    at_ns: int = 0
    mechanism: str = ""
    fault: str = ""
    about: tuple[int, int] | None = None


def _focus(judgement: Judgement, findings: Findings) -> _Focus:
    """The first violation of the promise under test, else of any, else the first fault, else the start."""
    own_first = sorted(judgement.violations, key=lambda violation: violation.claim != judgement.claim)
    for violation in own_first:
        for evidence in violation.evidence[:1]:
            if "culprit" in evidence:
                return _Focus(evidence["culprit"]["got_ns"], mechanism=violation.mechanism)
            if "at_ns" in evidence and "name" in evidence:
                return _Focus(evidence["at_ns"], fault=evidence["name"])
    for fault in findings.faults[:1]:
        return _Focus(fault.record.at_ns, fault=fault.record.name)
    if (own := tale(findings)) is not None and own.until_ns:
        return _Focus(own.until_ns, about=(own.since_ns, own.until_ns))
    return _Focus(findings.origin_ns)


Item = TypeVar("Item")


class _Near(Generic[Item]):
    """Out of a stream in the order of time, the items around a moment: at most ``limit``, half of them before it."""

    def __init__(self, at_ns: int, limit: int) -> None:
        self.at_ns, self.limit, self.seen = at_ns, limit, 0
        self.before: deque[Item] = deque(maxlen=limit // 2)
        self.after: list[Item] = []

    def add(self, at_ns: int, item: Item) -> None:
        self.seen += 1
        if at_ns < self.at_ns:
            self.before.append(item)
        elif len(self.after) < self.limit - len(self.before):
            self.after.append(item)

    def __iter__(self) -> Iterator[Item]:
        yield from self.before
        yield from self.after


class _Party(msgspec.Struct):
    """A culprit or a victim, as far as it takes to find its grant."""

    request: str
    got_ns: int


class _Told(msgspec.Struct):
    """A line of ``losses.jsonl``."""

    destroyed: int
    mechanism: str
    culprit: _Party
    victim: _Party | None


class _Reader:
    """The state of the pass."""

    def __init__(self, picture: Timeline, findings: Findings, focus: _Focus, limit: int) -> None:
        self.picture, self.findings, self.focus, self.limit = picture, findings, focus, limit
        self.held: _Near[Held] = _Near(focus.at_ns, limit)
        self.waited: _Near[Waited] = _Near(focus.at_ns, limit)
        self.renewals: _Near[Renewal] = _Near(focus.at_ns, limit)
        self.open: dict[tuple[str, str, int], Held] = {}
        self.started: dict[int, list[int]] = {}
        self.places: dict[str, int] = {}
        self.keys: dict[str, int] = {}
        self.last_ns = findings.end_ns

    def us(self, at_ns: int) -> int:
        return (at_ns - self.findings.origin_ns) // 1000

    def key(self, name: str) -> int:
        return self.keys.setdefault(name, len(self.keys)) if name else NEVER

    def read(self, history: History, losses: Path) -> None:
        picture = self.picture
        picture.replicas = history.replicas
        self.places = {name: place for place, name in enumerate(picture.replicas)}
        self.read_journals(history.events())
        picture.held = list(self.held)
        picture.waited, picture.renewals = list(self.waited), list(self.renewals)
        picture.grants = self.held.seen
        picture.end = self.us(self.last_ns)
        picture.faults = [self.drawn(fault) for fault in self.findings.faults]
        self.end_the_open()
        picture.shown = _span(picture, complete=len(picture.held) == picture.grants)
        picture.lives = list(self.lives(history.key_events()))
        picture.keys = [name.rpartition(":")[2] for name in self.keys]
        belong(picture, thefts=self.findings.thefts > 0)
        self.read_losses(losses)
        if self.focus.about is not None:
            picture.about = self.us(self.focus.about[0]), self.us(self.focus.about[1])
        for place, fault in enumerate(self.findings.faults):
            if fault.record.name == self.focus.fault:
                picture.focus_fault = place

    def read_journals(self, events: Iterable[tuple[str, AnyEvent]]) -> None:
        reactions: dict[type, Callable[[str, Any], None]] = {
            Got: self.got,
            Writing: self.writing,
            Wrote: self.wrote,
            Released: self.released,
            GaveUp: self.gave_up,
            Renewed: self.renewed,
            Started: self.came_up,
        }
        for replica, event in events:
            if (reaction := reactions.get(type(event))) is not None:
                self.last_ns = max(self.last_ns, event.at_ns)
                reaction(replica, event)

    def got(self, replica: str, event: Got) -> None:
        held = Held(
            request=event.request,
            replica=self.places[replica],
            key=self.key(event.key),
            asked=self.us(event.asked_ns),
            got=self.us(event.got_ns),
            commands=event.commands,
        )
        self.open[replica, event.request, event.turn] = held
        self.held.add(event.got_ns, held)

    def writing(self, replica: str, event: Writing) -> None:
        if held := self.open.get((replica, event.request, event.turn)):
            held.reading, held.read_at, held.read = self.us(event.reading_ns), self.us(event.read_ns), event.read

    def wrote(self, replica: str, event: Wrote) -> None:
        if held := self.open.get((replica, event.request, event.turn)):
            held.wrote_at, held.wrote, held.overwrote = self.us(event.wrote_ns), event.value, event.overwrote

    def released(self, replica: str, event: Released) -> None:
        if held := self.open.pop((replica, event.request, event.turn), None):
            held.until, held.released = self.us(event.releasing_ns), self.us(event.released_ns)
            held.result = event.result if event.answer != "0" else f"{event.result}, nothing was deleted"

    def gave_up(self, replica: str, event: GaveUp) -> None:
        asked, gave_up = self.us(event.asked_ns), self.us(event.gave_up_ns)
        why = event.why.rpartition(":")[2] if event.why.startswith("lab:") else event.why
        self.waited.add(event.gave_up_ns, Waited(event.request, self.places[replica], asked, gave_up, why))

    def renewed(self, replica: str, event: Renewed) -> None:
        renewal = Renewal(self.places[replica], self.key(event.key), self.us(event.renewed_ns), event.answer)
        self.renewals.add(event.renewed_ns, renewal)

    def came_up(self, replica: str, event: Started) -> None:
        self.started.setdefault(self.places[replica], []).append(self.us(event.started_ns))

    def drawn(self, fault: FaultOutcome) -> DrawnFault:
        record = fault.record
        place, at = self.places.get(record.replica, NEVER), self.us(record.at_ns)
        recovered = self.us(max(record.recovered_ns, record.at_ns))
        drawn = DrawnFault(record.kind or record.name, record.failpoint, place, record.request, at, recovered)
        drawn.effect = record.effect
        drawn.back = next((up for up in self.started.get(place, []) if up > at), NEVER)
        if fault.next_got_ns:
            drawn.next_got, drawn.next_request = self.us(fault.next_got_ns), fault.next_request
        return drawn

    def end_the_open(self) -> None:
        """Who never let go believed until its process died, or else until the end."""
        for held in self.open.values():
            deaths = [fault.at for fault in self.picture.faults if fault.replica == held.replica and fault.back != NEVER]
            back = next((up for up in self.started.get(held.replica, []) if up > held.got), NEVER)
            death = next((at for at in deaths if at >= held.got), back)
            held.until = self.picture.end if death == NEVER else death
            held.result = "never let go" if death == NEVER else "died with its process"

    def lives(self, events: Iterable[KeyEvent]) -> Iterator[Life]:
        """The lives of the keys in the time that is shown, in the order in which they began.

        Of several servers that hold the same key, the one that had it first speaks for its life.
        """
        living: dict[int, Life] = {}
        spoken_for: dict[int, str] = {}
        first, last = self.picture.shown
        near = 0
        for told in events:
            at, key = self.us(told.at_ns), self.key(told.key)
            life = living.get(key)
            if life is None:
                spoken_for[key] = told.node
            elif told.node != spoken_for[key]:
                continue
            if told.event in ENDS:
                if life is not None:
                    life.gone, life.how = at, told.event
                    del living[key]
            elif told.event == "expire" and life is not None:
                self.touch(life, at)
            elif life is None or told.event == "set":
                if life is not None:
                    life.gone, life.how = at, "set over"
                living[key] = born = Life(key, at)
                if first - HEARD_WITHIN_US <= at <= last + HEARD_WITHIN_US and near < 2 * self.limit:
                    near += 1
                    yield born

    def touch(self, life: Life, at: int) -> None:
        life.due = at + self.picture.ttl if self.picture.ttl else NEVER
        if at - life.born > TOUCHED_AFTER_US:
            life.touched.append(at)

    def read_losses(self, path: Path) -> None:
        picture = self.picture
        places = {(held.request, held.got): place for place, held in enumerate(picture.held)}
        mechanisms: dict[str, int] = {}
        decode = msgspec.json.Decoder(_Told).decode
        with path.open("rb") as file:
            for told in map(decode, file):
                culprit = self.place(told.culprit, places)
                if told.destroyed <= 0 or culprit == NEVER:
                    continue
                mechanism = mechanisms.setdefault(told.mechanism, len(mechanisms))
                picture.losses.append(Loss(culprit, self.place(told.victim, places), told.destroyed, mechanism))
        picture.mechanisms = list(mechanisms)
        self.focus_on_a_loss(mechanisms.get(self.focus.mechanism, NEVER))

    def focus_on_a_loss(self, mechanism: int) -> None:
        """The first by that mechanism of which the stamps tell all; else the first."""
        alike = [place for place, loss in enumerate(self.picture.losses) if loss.mechanism == mechanism]
        tell_all = [place for place in alike if self.tells_all(place)]
        if self.focus.mechanism == DELETED:  # and if possible the thief as well
            tell_all.sort(key=lambda place: not self.tells_the_thief(place))
        self.picture.focus = next(iter([*tell_all, *alike]), NEVER)

    def tells_all(self, place: int) -> bool:
        """Whether the victim is known and stamped before the culprit: a thread may be held up before it stamps its write."""
        loss = self.picture.losses[place]
        held = self.picture.held
        return loss.victim != NEVER and held[loss.victim].wrote_at < held[loss.culprit].wrote_at

    def tells_the_thief(self, place: int) -> bool:
        """Whether the store's words name who deleted the lock of whoever of the two got it first."""
        loss, held = self.picture.losses[place], self.picture.held
        elder = min((loss.culprit, loss.victim), key=lambda at: held[at].got)
        lease = self.picture.lives[held[elder].lease] if held[elder].lease != NEVER else None
        return lease is not None and lease.how == "del" and lease.by not in (NEVER, elder)

    def place(self, party: _Party | None, places: dict[tuple[str, int], int]) -> int:
        return NEVER if party is None else places.get((party.request, self.us(party.got_ns)), NEVER)


def _span(picture: Timeline, complete: bool) -> tuple[int, int]:
    """The time in which no grant is missing from the picture."""
    if complete or not picture.held:
        return 0, picture.end
    return max(0, picture.held[0].got), picture.held[-1].got


def _stack(items: Sequence[Any], lane: Callable[[Any], int], span: Callable[[Any], tuple[int, int]]) -> None:
    """Give each item the lowest slot of its lane that is free when it begins."""
    ends: dict[int, list[int]] = {}
    for item in items:
        since, until = span(item)
        slots = ends.setdefault(lane(item), [])
        slot = next((slot for slot, end in enumerate(slots) if end <= since), len(slots))
        slots[slot : slot + 1] = [until]
        item.slot = slot


def opening(picture: Timeline) -> tuple[int, int]:
    """The story and two TTLs before and after it, but never so much that the story itself is lost in it."""
    since, until = story(picture)
    if picture.about == (NEVER, NEVER) and picture.focus == picture.focus_fault == NEVER:
        return 0, max(1, until)
    length = max(until - since, 1000)
    margin = 2 * picture.ttl or length // 2
    if picture.focus_fault == NEVER:
        margin = min(margin, 2 * length)
    return max(0, since - margin), max(1, min(picture.end, until + margin))
