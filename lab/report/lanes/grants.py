"""Draw the grants of a run: the time in which each request believes that it holds the lock, its lease, fence and thefts."""

from __future__ import annotations

from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Rows
from lab.report.timeline_votes import majority_ends
from lab.story import from_run
from lab.story.timeline import NEVER, DrawnGrant, Timeline

MOST_LABELS = 24  # grants in view; if there are more, only the grants of the title are labelled
SEEN = 0.02  # part of the width; a shorter wait is not drawn
ABOVE = 0.49  # the height of renewals above the middle of a row: over the names
BELIEF, EFFECT, NAME, NUMBER = (-0.4, 0.32), (0.06, 0.44), -0.09, 0.47  # from a row's middle: bars, ticks, texts' lower edges
LEASE = 0.22  # the lower edge of a lease at the store, from the middle of its row
ROOM_FOR_BOTH = 0.07  # part of the width: between a read and its write, both numbers fit


class Grants:
    """The grants that are drawn."""

    def __init__(self, pen: Pen, picture: Timeline, rows: Rows) -> None:
        self.pen, self.picture, self.rows = pen, picture, rows
        self.cast = grants_of_title(picture)
        self.own = {id(held) for held in self.cast}
        self.is_labelled = len(rows.visible) <= MOST_LABELS
        self.majority_ends = majority_ends(picture) if picture.votes else {}
        self.places = {id(held): place for place, held in enumerate(picture.held)} if picture.votes else {}

    def draw(self) -> None:
        """Draw all grants, and label the grants of the title first."""
        pen, row_of, visible, is_locked = self.pen, self.rows.row_of, self.rows.visible, self.picture.is_locked
        outer = ((row_of(held), held.outer_got, held.outer_until) for held in visible if held.outer_got != NEVER)
        pen.bars(outer, *BELIEF, "outer", "outer")
        belief = ((row_of(held), held.got, held.until) for held in visible)
        pen.bars(belief, *BELIEF, "belief", "believes" if is_locked else "in_work")
        leases = [(held, *lease) for held in visible if (lease := self.lease(held))]
        alone = ((row_of(held), max(end, held.got), held.until) for held, _, end in leases)
        pen.bars(alone, *BELIEF, "alone", "alone")
        if not self.rows.is_crowded:
            read = ((row_of(held), held.read_moment) for held in visible if held.read is not None and held.read_at != NEVER)
            pen.ticks(read, *EFFECT, "read", "read")
        pen.bars(((row_of(held), since, end) for held, since, end in leases), -0.01, 0.07, "keeps")
        pen.ticks(((row_of(held), held.wrote_moment) for held in visible if held.wrote is not None), *EFFECT, "write", "write")
        longest = SEEN * (self.rows.until - self.rows.since)
        waits = ((row_of(held), held.asked, held.got) for held in self.cast if held.got - held.asked >= longest)
        pen.bars(waits, -0.27, 0.06, "wait", "wait")
        self.ends()
        self.renewals()
        first = sorted(visible, key=lambda held: id(held) not in self.own)
        for held in first if self.is_labelled else [held for held in first if id(held) in self.own]:
            self.labels(held)

    def lease(self, held: DrawnGrant) -> tuple[int, int] | None:
        """Return the beginning and the end of a grant's lease at the lock's servers; None if it is not known."""
        if not self.picture.is_locked:
            return None
        if self.picture.votes:
            end = self.majority_ends.get(self.places[id(held)], NEVER)
            return None if end == NEVER else (held.got, end)
        life = self.picture.lease(held)
        return None if life is None else (life.born, life.end(self.picture.end))

    def ends(self) -> None:
        """Draw how the work of a request ended, if it failed or was given up, or if the resource refused its write."""
        for held in self.rows.visible:
            if held.is_refused:
                self.pen.signs([(self.rows.row_of(held), held.refused_moment)], 0.26, "cross", "refused_write", "harm")
            elif held.is_abandoned:
                self.pen.signs([(self.rows.row_of(held), held.until)], 0.26, "square", "given_up_work", "full failed")
            elif held.result.startswith("error: "):
                self.pen.signs([(self.rows.row_of(held), held.until)], 0.26, "diamond", "failed_work", "full failed")

    def renewals(self) -> None:
        """Draw renewals above the row of their replica, failed ones hollow. Without renewals, draw when a TTL was set."""
        pen, rows = self.pen, self.rows
        sent = [(rows.of_replica[renewal.replica], renewal) for renewal in rows.renewals]
        failed = [(row, renewal.at) for row, renewal in sent if not renewal.succeeded]
        pen.signs([(row, renewal.at) for row, renewal in sent if renewal.succeeded], -ABOVE, "down", "renewal")
        pen.signs(failed, -ABOVE, "down", "renewal_in_vain", "harm hollow")
        if not rows.renewals and rows.of_store != NEVER:
            pen.signs([(rows.of_store, at) for life in rows.lives for at in life.touched], -0.34, "down", "ttl_set")

    def labels(self, held: DrawnGrant) -> None:
        """Name the request, with its fence, and write the numbers that it read and wrote next to their moments."""
        y, pen = self.rows.row_of(held), self.pen
        is_cast = id(held) in self.own
        kind = "first" if is_cast else "detail"
        fence = held.fence or (held.fences[0] if held.fences is not None else 0)  # without one in the grant, the refusal names it
        name = pen.say("fenced", request=held.request, fence=fence) if fence else held.request
        inner, outer = [("left", 4), ("right", -4)], [("right", -4), ("left", 4)]
        begins = max(held.got, self.rows.since)
        pen.label(name, begins, [y + NAME], inner if is_cast else inner[:1], f"{kind} bold" if is_cast else kind)
        if held.is_refused:
            own, newest = held.fences or (0, 0)
            words = pen.say("older", own=own, seen=newest) if own < newest else pen.say("refused")
            pen.label(words, held.refused_moment, [y + NUMBER], [("left", 8), ("right", -8)], f"{kind} bad")
        is_cramped = held.wrote_moment - held.read_moment < ROOM_FOR_BOTH * (self.rows.until - self.rows.since)
        if held.read is not None:
            pen.label(f"r={held.read}", held.read_moment, [y + NUMBER], outer[:1] if is_cramped else inner[:1], kind)
        if held.wrote is not None:
            pen.label(f"w={held.wrote}", held.wrote_moment, [y + NUMBER], inner[:1] if is_cramped else outer, kind)

    def thefts(self) -> None:
        """Draw an arrow from each release that deleted another holder's lock to that lock at the store."""
        pen, rows, held = self.pen, self.rows, self.picture.held
        store = rows.of_store + LEASE
        for life in rows.lives:
            if life.how != "del" or NEVER in (life.holder, life.by) or life.by == life.holder:
                continue
            holder, thief = held[life.holder], held[life.by]
            is_labelled = self.is_labelled or id(thief) in self.own
            if is_labelled and holder.until > life.gone:  # the holder still worked: it had not sent its own release
                # the lab receives the store's events late
                arrives = min(max(life.gone, thief.until), max(thief.released, thief.until))
                pen.arrow((arrives, rows.row_of(thief) - 0.25), (arrives, store), "theft", "theft")
                names = pen.say("deletes", thief=thief.request, holder=holder.request)
                pen.label(names, arrives, [store + 0.33, rows.of_store - LEASE], [("left", 6), ("right", -6)], "first bad")


def named_requests(picture: Timeline) -> set[str]:
    """Return the requests in the title."""
    return {name for happening in from_run.title(picture) for name in (happening.actor, *happening.others) if name}


def grants_of_title(picture: Timeline) -> list[DrawnGrant]:
    """Return the grants of the title, in the order in which they began.

    These are the grants of the loss, of the requests in the title, of the fault, and of a request that deleted another's key, and
    the grant with the newer fence, for which the resource refused a write.
    """
    places = set[int]()
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        places |= {loss.culprit, loss.victim}
        robbed = set() if picture.votes else {picture.held[place].lease for place in places - {NEVER}}
        places |= {life.by for number, life in enumerate(picture.lives) if number in robbed and life.how == "del"}
    names = named_requests(picture)
    if picture.focus_fault != NEVER:
        names.add(picture.faults[picture.focus_fault].request)
    since, until = picture.opens
    for place, held in enumerate(picture.held):
        if held.request in names and held.got <= until and held.until >= since:
            places.add(place)
    newer = {held.fences[1] for held in picture.held if held.fences is not None}
    places |= {place for place, held in enumerate(picture.held) if held.fence in newer}
    return [picture.held[place] for place in sorted(places - {NEVER})]
