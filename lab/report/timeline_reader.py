"""Make the ``Timeline`` of a judged run from the judge's trace and findings, and from the store's reports on the lock's keys."""

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

LIMIT = 8000  # grants in a picture, and lives of keys; of a longer run, the part around its focus is shown
KEPT_FROM_OTHERS = (Code.NOBODY_AFTER_FAULT, Code.LATE_AFTER_FAULT)


class Reader:
    """Read the judge's trace and the store's reports of a judged run folder into a picture: its ``picture``, a timeline."""

    def __init__(
        self, folder: Path, judgement: Judgement, findings: Findings, has_store: bool = True, limit: int = LIMIT
    ) -> None:
        self.findings, self.limit = findings, limit
        self.places: dict[str, int] = {}  # by replica, its index
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
                violation.seen[0].code in KEPT_FROM_OTHERS
                for violation in judgement.violations
                for outcome in violation.evidence
                if isinstance(outcome, FaultOutcome) and outcome.record.name == focus.fault
            ),
        )
        self.read(History(folder, findings.left_out))
        if story is not None and picture.is_locked:  # each story is about a lock
            picture.claim = story.happened
        _stack(picture.held)
        picture.opens = opening(picture)

    def all_grants(self) -> Iterator[DrawnGrant]:
        """Yield all grants of the run, also grants that the picture leaves out."""
        self.ended.clear()
        return map(self.drawn_grant, self.findings.trace.grants)

    def us(self, at_ns: int) -> int:
        """Return a stamp as microseconds since the first request."""
        return (at_ns - self.findings.origin_ns) // 1000

    def key(self, name: str) -> int:
        """Return the index of a key; a new key gets the next free one."""
        return self.keys.setdefault(name, len(self.keys)) if name else NEVER

    def name(self, key: int) -> str:
        """Return the short name of the key with this index; empty for NEVER."""
        return "" if key == NEVER else [*self.keys][key].rpartition(":")[2]

    def started(self, replica: str) -> list[int]:
        """Return the moments at which processes of a replica started."""
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
        grants = sorted(logged, key=logged.when) if logged.number <= self.limit else logged.around(at_ns, self.limit)
        renewals = trace.renewals.around(at_ns, self.limit)
        picture.held = [self.drawn_grant(grant) for grant in grants]
        picture.waited = [self.gave_up(replica, event) for replica, event in trace.waits.around(at_ns, self.limit)]
        picture.renewals = [self.renewal(replica, event) for replica, event in renewals]
        complete = len(picture.held) == picture.grants
        place_commands(picture, self.findings.run.start if complete else None)
        # from first to last, no grant is missing from the picture
        first, last = (0, picture.end) if complete else (max(0, picture.held[0].got), picture.held[-1].got)
        self.shown = first - RECEIVED_WITHIN_US, last + RECEIVED_WITHIN_US
        lives = self.in_view(lives_of(self.keyed(history.key_events()), picture.ttl, are_votes=False))
        self.read_votes(history)
        picture.keys = [self.name(key) for key in self.keys.values()]
        locks = picture.lock_keys  # read once, because this property goes through all grants
        picture.lives = [life for life in lives if life.place in locks]
        assign_lives(picture, {place: grant.robber for place, grant in enumerate(grants) if grant.robber})
        self.read_losses()
        waits = [(held.asked, held.got) for held in picture.held] + [(waited.asked, waited.gave_up) for waited in picture.waited]
        picture.waiting = at_once(waits) if complete and picture.is_locked else []
        picture.focus = loss_in_focus(picture, self.focus.mechanism)
        if self.focus.span is not None:
            picture.about = self.us(self.focus.span[0]), self.us(self.focus.span[1])
        for place, outcome in enumerate(self.findings.faults):
            if outcome.record.name == self.focus.fault:
                picture.focus_fault = place

    def renewal(self, replica: str, event: Renewed) -> Renewal:
        """Return the drawn form of a command outside any request."""
        return Renewal(self.places[replica], self.key(event.key), self.us(event.renewed_ns), event.prolonged)

    def gave_up(self, replica: str, event: GaveUp) -> Waited:
        """Return the drawn form of a request that got no lock."""
        return Waited(event.request, self.places[replica], self.us(event.asked_ns), self.us(event.gave_up_ns))

    def drawn_grant(self, grant: GrantRecord) -> DrawnGrant:
        """Return the drawn form of a grant."""
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
        """End a grant without a release: the holder believed that it held the lock until its process died, or the run ended."""
        deaths = [fault.at for fault in self.picture.faults if fault.replica == drawn.replica and fault.back != NEVER]
        back = next((up for up in self.started(replica) if up > drawn.got), NEVER)
        death = next((at for at in deaths if at >= drawn.got), back)
        drawn.until = self.picture.end if death == NEVER else death
        drawn.result = "never released" if death == NEVER else "died with its process"

    def drawn_fault(self, outcome: FaultOutcome) -> DrawnFault:
        """Return the drawn form of a fault."""
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
        """Yield each event with its moment and the index of its key. Note the servers that reported events."""
        for event in events:
            self.nodes.add(event.node)
            yield self.us(event.at_ns), self.key(event.key), event

    def in_view(self, lives: Iterable[Life]) -> list[Life]:
        """Return the lives of keys that began in the span in which no grant is missing."""
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
        events = ((self.us(event.at_ns), picture.voters.index(f"server {match[1]}"), event) for event, match in of_locks if match)
        picture.votes = self.in_view(lives_of(events, picture.ttl, are_votes=True))
        assign_votes(picture)

    def read_losses(self) -> None:
        """Read the losses for which the destroying grant is in the picture."""
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
        """Return the index of a grant in the picture; NEVER if the picture leaves it out."""
        return NEVER if facts is None else places.get((facts.request, self.us(facts.got_ns)), NEVER)


def _stack(grants: Sequence[DrawnGrant]) -> None:
    """Give each grant the first slot of its replica that is free when the grant begins."""
    ends: dict[int, list[int]] = {}
    for grant in grants:
        slots = ends.setdefault(grant.replica, [])
        grant.slot = next((slot for slot, end in enumerate(slots) if end <= grant.got), len(slots))
        slots[grant.slot : grant.slot + 1] = [grant.until]
