"""Make the ``Timeline`` of a judged run: from the judge's trace, its findings, and what the lock's store reported of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from app.journal import GaveUp, Renewed
from lab.evidence.history import History, KeyEvent
from lab.evidence.loss import GrantFacts, Mechanism
from lab.judge.fact import Code
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.grant import GrantRecord
from lab.judge.judgement import Judgement
from lab.report.timeline_order import place_commands
from lab.report.timeline_votes import NUMBERED, assign_lives, assign_votes, lives_of, voters_of
from lab.story.from_findings import claim_story, focus_of, loss_in_focus, opening
from lab.story.timeline import (
    NEVER,
    RECEIVED_WITHIN_US,
    DrawnFault,
    DrawnGrant,
    DrawnLoss,
    Life,
    Renewal,
    Timeline,
    Waited,
    at_once,
)

LIMIT = 8000  # grants in a picture, and key lives; a longer run is shown around the moment that matters
KEPT_FROM_OTHERS = (Code.NOBODY_AFTER_FAULT, Code.LATE_AFTER_FAULT)


def read(folder: Path, judgement: Judgement, findings: Findings, has_store: bool = True, limit: int = LIMIT) -> Timeline:
    """Return the timeline of a judged run folder. With a damaged history it is empty."""
    return Reader(folder, judgement, findings, has_store, limit).picture


class Reader:
    """The judge's trace, and what the lock's store reported of its keys, as the picture has them."""

    def __init__(
        self, folder: Path, judgement: Judgement, findings: Findings, has_store: bool = True, limit: int = LIMIT
    ) -> None:
        self.findings, self.limit = findings, limit
        self.places: dict[str, int] = {}  # of the replicas
        self.keys: dict[str, int] = {}
        self.nodes: set[str] = set()  # the servers that reported an event
        self.ended: dict[str, int] = {}  # when the last turn of each request ended
        self.focus = focus = focus_of(judgement, findings)
        story = claim_story(findings)
        self.picture = picture = Timeline(
            stage=judgement.stage,
            ttl=findings.run.ttl_ms * 1000,
            asked_store=has_store,
            writes=judgement.writes,
            lost=judgement.lost,
            duplicated=judgement.duplicated,
            is_kept_from_others=any(
                isinstance(one, FaultOutcome) and one.record.name == focus.fault and violation.seen[0].code in KEPT_FROM_OTHERS
                for violation in judgement.violations
                for one in violation.evidence
            ),
        )
        self.read(History(folder, findings.left_out))
        if story is not None and picture.is_locked:  # it is the story of a lock
            picture.claim = story.happened
        _stack(picture.held)
        picture.opens = opening(picture)

    def all_grants(self) -> Iterator[DrawnGrant]:
        """Yield all grants of the run, whether the picture has them or not."""
        if len(self.picture.held) == self.picture.grants:
            return iter(self.picture.held)
        self.ended.clear()
        return map(self.drawn_grant, self.findings.trace.grants)

    def us(self, at_ns: int) -> int:
        """Return a stamp as microseconds since the first request."""
        return (at_ns - self.findings.origin_ns) // 1000

    def key(self, name: str) -> int:
        """Return the place of a key, which is the next free one if the key is new."""
        return self.keys.setdefault(name, len(self.keys)) if name else NEVER

    def name(self, key: int) -> str:
        """Return the short name of a key; empty without one."""
        return "" if key == NEVER else [*self.keys][key].rpartition(":")[2]

    def started(self, replica: str) -> list[int]:
        """Return when processes of a replica came up."""
        return list(map(self.us, self.findings.started_ns.get(replica, [])))

    def read(self, history: History) -> None:
        """Fill the picture."""
        picture, trace, at_ns = self.picture, self.findings.trace, self.focus.at_ns
        picture.replicas = history.replicas
        self.places = {name: place for place, name in enumerate(picture.replicas)}
        picture.grants = trace.grants.number
        picture.end = self.us(max(self.findings.last_ns, self.findings.end_ns))
        picture.faults = [self.drawn_fault(outcome) for outcome in self.findings.faults]
        logged = trace.grants
        grants = sorted(logged, key=logged.when) if logged.number <= self.limit else logged.near(at_ns, self.limit)
        renewals = trace.renewals.near(at_ns, self.limit)
        picture.held = [self.drawn_grant(grant) for grant in grants]
        picture.waited = [self.gave_up(replica, event) for replica, event in trace.waits.near(at_ns, self.limit)]
        picture.renewals = [self.renewal(replica, event) for replica, event in renewals]
        complete = len(picture.held) == picture.grants
        place_commands(picture, self.findings.run.start if complete else None)
        # the time in which no grant is missing from the picture
        first, last = (0, picture.end) if complete else (max(0, picture.held[0].got), picture.held[-1].got)
        self.shown = first - RECEIVED_WITHIN_US, last + RECEIVED_WITHIN_US
        picture.gaps = [at for at in picture.gaps if first <= at <= last]
        lives = self.in_view(lives_of(self.keyed(history.key_events()), picture.ttl, are_votes=False))
        self.read_votes(history)
        picture.keys = [self.name(key) for key in self.keys.values()]
        locks = picture.lock_keys  # once: each time it looks at all grants
        picture.lives = [life for life in lives if life.place in locks]
        assign_lives(picture, thefts=self.findings.thefts > 0)
        self.read_losses()
        waits = [(held.asked, held.got) for held in picture.held] + [(one.asked, one.gave_up) for one in picture.waited]
        picture.waiting = at_once(waits) if complete and picture.is_locked else []
        picture.focus = loss_in_focus(picture, self.focus.mechanism)
        if self.focus.span is not None:
            picture.about = self.us(self.focus.span[0]), self.us(self.focus.span[1])
        for place, outcome in enumerate(self.findings.faults):
            if outcome.record.name == self.focus.fault:
                picture.focus_fault = place

    def renewal(self, replica: str, event: Renewed) -> Renewal:
        """Return a command outside any request as the picture has it."""
        return Renewal(self.places[replica], self.key(event.key), self.us(event.renewed_ns), event.prolonged)

    def gave_up(self, replica: str, event: GaveUp) -> Waited:
        """Return a request that got no lock as the picture has it."""
        return Waited(event.request, self.places[replica], self.us(event.asked_ns), self.us(event.gave_up_ns))

    def drawn_grant(self, grant: GrantRecord) -> DrawnGrant:
        """Return a grant as the picture has it."""
        drawn = DrawnGrant(
            request=grant.request,
            replica=self.places[grant.replica],
            key=self.key(grant.key),
            asked=self.us(grant.asked_ns),
            got=self.us(grant.got_ns),
            commands=grant.commands,
            fence=grant.fence,
            part=grant.part,
        )
        if grant.sent_ns < grant.got_ns:
            drawn.acquiring = self.us(grant.sent_ns)
        if grant.read_ns:
            drawn.reading, drawn.read_at, drawn.read = self.us(grant.reading_ns), self.us(grant.read_ns), grant.read
        if grant.wrote is not None:
            drawn.wrote_at, drawn.wrote, drawn.overwrote = self.us(grant.wrote_ns), grant.wrote, grant.overwrote
            drawn.writing = self.us(grant.writing_ns)
        if grant.is_over:
            drawn.until, drawn.released = self.us(grant.releasing_ns or grant.released_ns), self.us(grant.released_ns)
            drawn.result = grant.result if grant.answer != "0" else f"{grant.result}, nothing was deleted"
        else:
            self.end(drawn, grant.replica)
        drawn.refused_at = self.us(grant.refused_ns) if grant.refused_ns else NEVER
        if grant.outer_got_ns:
            drawn.outer_got = self.us(grant.outer_got_ns)
            drawn.outer_until = self.us(grant.outer_releasing_ns) if grant.outer_releasing_ns else drawn.until
        # a request that works again has waited only since its last turn
        drawn.asked = min(drawn.got, max(drawn.asked, self.ended.get(grant.request, drawn.asked)))
        self.ended[grant.request] = drawn.until
        return drawn

    def end(self, drawn: DrawnGrant, replica: str) -> None:
        """End a grant without a release: the holder believed to hold the lock until its process died, or until the run's end."""
        deaths = [fault.at for fault in self.picture.faults if fault.replica == drawn.replica and fault.back != NEVER]
        back = next((up for up in self.started(replica) if up > drawn.got), NEVER)
        death = next((at for at in deaths if at >= drawn.got), back)
        drawn.until = self.picture.end if death == NEVER else death
        drawn.result = "never released" if death == NEVER else "died with its process"

    def drawn_fault(self, outcome: FaultOutcome) -> DrawnFault:
        """Return a fault outcome as the picture has it."""
        record = outcome.record
        place, at = self.places.get(record.replica, NEVER), self.us(record.at_ns)
        recovered = self.us(max(record.recovered_ns, record.at_ns))
        drawn = DrawnFault(record.kind or record.name, record.failpoint, place, record.request, at, recovered)
        drawn.effect = record.effect
        drawn.back = next((up for up in self.started(record.replica) if up > at), NEVER)
        if outcome.next_got_ns:
            drawn.next_got, drawn.next_request = self.us(outcome.next_got_ns), outcome.next_request
        return drawn

    def keyed(self, events: Iterable[KeyEvent]) -> Iterator[tuple[int, int, KeyEvent]]:
        """Yield each event with its moment, and with the place of its key. Note which servers reported any."""
        for event in events:
            self.nodes.add(event.node)
            yield self.us(event.at_ns), self.key(event.key), event

    def in_view(self, lives: Iterable[Life]) -> list[Life]:
        """Return the lives that began in the time in which no grant is missing."""
        first, last = self.shown
        return [life for life in lives if first <= life.born <= last]

    def read_votes(self, history: History) -> None:
        """Read the votes of several lock servers."""
        picture = self.picture
        picture.voters = voters_of(self.nodes)
        if not picture.voters:
            return
        locks = {name for name, place in self.keys.items() if place in picture.lock_keys}
        of_locks = ((event, NUMBERED.fullmatch(event.node)) for event in history.key_events() if event.key in locks)
        events = ((self.us(event.at_ns), picture.voters.index(f"server {found[1]}"), event) for event, found in of_locks if found)
        picture.votes = self.in_view(lives_of(events, picture.ttl, are_votes=True))
        assign_votes(picture)

    def read_losses(self) -> None:
        """Read the losses whose culprit is in the picture."""
        picture = self.picture
        places = {(grant.request, grant.got): place for place, grant in enumerate(picture.held)}
        mechanisms: dict[Mechanism, int] = {}
        for loss in self.findings.trace.losses:
            culprit = self.place(loss.culprit, places)
            if loss.destroyed <= 0 or culprit == NEVER:
                continue
            mechanism = mechanisms.setdefault(loss.mechanism, len(mechanisms))
            picture.losses.append(DrawnLoss(culprit, self.place(loss.victim, places), loss.destroyed, mechanism))
        picture.mechanisms = list(mechanisms)

    def place(self, facts: GrantFacts | None, places: dict[tuple[str, int], int]) -> int:
        """Return the place of a grant in the picture; NEVER if it is not in there."""
        return NEVER if facts is None else places.get((facts.request, self.us(facts.got_ns)), NEVER)


def _stack(grants: Sequence[DrawnGrant]) -> None:
    """Give each grant the lowest slot of its replica that is free when it begins."""
    ends: dict[int, list[int]] = {}
    for grant in grants:
        slots = ends.setdefault(grant.replica, [])
        grant.slot = next((slot for slot, end in enumerate(slots) if end <= grant.got), len(slots))
        slots[grant.slot : grant.slot + 1] = [grant.until]
