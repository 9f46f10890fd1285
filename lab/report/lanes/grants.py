"""What a run's drawing has of each grant: what the request believes, its lease, its fence, its commands and its messages."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Rows
from lab.report.timeline_votes import majority_ends
from lab.story import from_run
from lab.story.timeline import NEVER, DrawnGrant, Timeline

MOST_LABELS = 24  # grants in view; among more, only those of the title are labelled
MOST_READS = 60  # grants in view; among more, only the writes are drawn
ABOVE = 0.49  # where renewals are, from the middle of a row up: over the names
NAME, NUMBER = -0.09, 0.47  # where the lower edge of a name is, and that of a number, from the middle of a row
ROOM_FOR_BOTH = 0.07  # of the width, between a read and its write, to write a number on their inner sides


class Grants:
    """The grants that are drawn."""

    def __init__(self, pen: Pen, picture: Timeline, rows: Rows, cast: Collection[DrawnGrant]) -> None:
        self.pen, self.picture, self.rows = pen, picture, rows
        self.cast = {id(held) for held in cast}
        in_view = len(rows.visible)
        self.is_labelled = in_view <= MOST_LABELS
        pen.is_crowded = in_view > MOST_READS
        self.has_details = not pen.is_crowded
        self.is_locked = picture.is_locked
        self.majority_ends = majority_ends(picture) if picture.votes else {}
        self.places = {id(held): place for place, held in enumerate(picture.held)}

    @property
    def written(self) -> str:
        """Return the code of a write: among many grants it has no bar."""
        return "write_timed" if self.has_details else "write"

    def draw(self) -> None:
        """Draw all grants, and label those of the title first."""
        for held in self.rows.visible:
            self.belief(held)
            self.effects(held)
        self.renewals()
        first = sorted(self.rows.visible, key=lambda held: id(held) not in self.cast)
        for held in first:
            if self.is_labelled or id(held) in self.cast:
                self.labels(held)

    @property
    def meaning(self) -> str:
        """Return the code of what a grant's bar means."""
        return "believes" if self.is_locked else "in_work"

    def belief(self, held: DrawnGrant) -> None:
        """Draw what the request believes, and the lease that it has."""
        pen, y = self.pen, self.rows.of(held)
        if held.outer_got != NEVER:
            pen.bars([(held.outer_got, held.outer_until)], y - 0.4, 0.32, "outer", "outer")
        pen.bars([(held.got, held.until)], y - 0.4, 0.32, "belief", self.meaning)
        if self.is_locked and self.has_details and held.released != NEVER:
            calls = [(since, until) for since, until in ((held.acquiring, held.got), (held.until, held.released)) if since >= 0]
            pen.bars(calls, y - 0.32, 0.14, "call", "call")
        since, end = self.lease(held)
        if since != NEVER:
            pen.bars([(since, end)], y - 0.01, 0.07, "keeps")
            pen.bars([(max(end, held.got), held.until)], y - 0.4, 0.32, "alone", "alone")
        elif (taken := self.taken_over(held)) != NEVER:
            pen.bars([(taken, held.until)], y - 0.4, 0.32, "alone", "taken_over")

    def lease(self, held: DrawnGrant) -> tuple[int, int]:
        """Return since when and until when the lock's servers kept the lock for a grant; NEVER where it is not known."""
        if self.picture.votes:
            end = self.majority_ends.get(self.places[id(held)], NEVER)
            return (NEVER, NEVER) if end == NEVER else (held.got, end)
        if held.lease == NEVER:
            return NEVER, NEVER
        life = self.picture.lives[held.lease]
        return life.born, life.end(self.picture.end)

    def taken_over(self, held: DrawnGrant) -> int:
        """Return when another request got the lock of a holder that a fault had stopped; NEVER where none did.

        It is for stores that report nothing of their keys: by then at the latest, the lease was over.
        """
        if self.picture.lives or self.picture.votes or held.request not in {fault.request for fault in self.picture.faults}:
            return NEVER
        later = (one.got for one in self.picture.held if one.key == held.key and held.got < one.got < held.until)
        return min(later, default=NEVER) if self.is_locked and self.picture.asked_store else NEVER

    def effects(self, held: DrawnGrant) -> None:
        """Draw the read and the write: from sent to answered, and the moment between the two."""
        pen, y = self.pen, self.rows.of(held)
        if held.read is not None and held.read_at != NEVER and self.has_details:
            pen.bars([(held.reading, held.read_at)], y + 0.08, 0.08, "reading")
            pen.ticks([held.read_moment], y + 0.06, y + 0.44, "read", "read_timed")
        if held.is_refused:
            pen.signs([held.refused_moment], y + 0.26, "cross", "refused_write", "harm")
        if held.is_abandoned:
            pen.signs([held.until], y + 0.26, "square", "given_up_work", "full failed")
        elif held.result.startswith("error: ") and not held.is_refused:
            pen.signs([held.until], y + 0.26, "diamond", "failed_work", "full failed")
        if held.wrote is None:
            return
        if held.writing != NEVER and self.has_details:
            pen.bars([(held.writing, held.wrote_at)], y + 0.08, 0.08, "writing")
        pen.ticks([held.wrote_moment], y + 0.06, y + 0.44, "write", self.written)

    def renewals(self) -> None:
        """Draw renewals above the row of the replica that sent them, and apart those after which a key was set anew."""
        for place, middle in enumerate(self.rows.of_replica):
            own = [renewal for renewal in self.rows.renewals if renewal.replica == place]
            self.pen.signs([one.at for one in own if one.succeeded], middle - ABOVE, "down", "renewal")
            failed = [one.at for one in own if not one.succeeded]
            self.pen.signs(failed, middle - ABOVE, "down", "renewal_in_vain", "harm hollow")
        if not self.rows.renewals and self.rows.of_store != NEVER:
            touched = [at for life in self.rows.lives for at in life.touched]
            self.pen.signs(touched, self.rows.of_store - 0.34, "down", "ttl_set")

    def labels(self, held: DrawnGrant) -> None:
        """Name the request, with its fence, and write the numbers that it read and wrote next to their moments."""
        y, pen = self.rows.of(held), self.pen
        is_cast = id(held) in self.cast
        kind = "first" if is_cast else "detail"
        name = pen.say("fenced", request=held.request, fence=_fence(held)) if _fence(held) else held.request
        sides = [("left", 4), ("right", -4)] if is_cast else [("left", 4)]
        pen.label(name, held.got, [y + NAME], sides, f"{kind} bold" if is_cast else kind, held.until)
        if held.is_refused:
            own, seen = held.fences or (0, 0)
            words = pen.say("older", own=own, seen=seen) if own < seen else pen.say("refused")
            pen.label(words, held.refused_moment, [y + NUMBER], [("left", 8), ("right", -8)], f"{kind} bad")
        is_cramped = held.wrote_moment - held.read_moment < ROOM_FOR_BOTH * (pen.axis.until - pen.axis.since)
        inner, outer = [("left", 4), ("right", -4)], [("right", -4), ("left", 4)]
        if held.read is not None:
            pen.label(f"r={held.read}", held.read_moment, [y + NUMBER], outer[:1] if is_cramped else inner[:1], kind)
        if held.wrote is not None:
            pen.label(f"w={held.wrote}", held.wrote_moment, [y + NUMBER], inner[:1] if is_cramped else outer, kind)


def _fence(held: DrawnGrant) -> int:
    """Return the number of a grant; a refused write names it where the journal of the grant does not."""
    return held.fence or (held.fences[0] if held.fences is not None else 0)


BELOW = 0.22  # the lower edge of a lease, from the middle of its row
MESSAGE = "message"
THEFT = "theft"


def draw_messages(pen: Pen, picture: Timeline, rows: Rows, grants: Grants, cast: Collection[DrawnGrant]) -> None:
    """Draw an acquire to the moment at which the key was set, a release to the moment at which it was deleted.

    The lab receives the store's events late. So a message arrives at the latest when its answer is back.
    """
    if rows.of_store == NEVER:
        return
    visible, own = {id(held) for held in rows.visible}, {id(held) for held in cast}
    wanted = visible if grants.is_labelled else own & visible
    store = rows.of_store + BELOW
    for life in rows.lives:
        holder, thief = (picture.held[place] if place != NEVER else None for place in (life.holder, life.by))
        if holder is not None and id(holder) in wanted and holder.acquiring != NEVER:
            start = holder.acquiring, grants.rows.of(holder) - 0.4
            arrives = min(max(life.born, holder.acquiring), holder.got)
            pen.arrow(start, (arrives, store), MESSAGE, "message own" if id(holder) in own else "message")
        if thief is None or id(thief) not in wanted or life.how != "del":
            continue
        arrives = min(max(life.gone, thief.until), max(thief.released, thief.until))
        if thief is holder:
            start = thief.until, grants.rows.of(thief) - 0.4
            pen.arrow(start, (arrives, store), MESSAGE, "message own" if id(thief) in own else "message")
        elif holder is not None and holder.until > life.gone:  # it still worked: it had not sent its own release
            pen.arrow((arrives, grants.rows.of(thief) - 0.25), (arrives, store), THEFT, "theft")
            names = pen.say("deletes", thief=thief.request, holder=holder.request)
            pen.label(names, arrives, [store + 0.33, rows.of_store - BELOW], [("left", 6), ("right", -6)], "first bad")


def named(picture: Timeline) -> set[str]:
    """Return the requests that the title names."""
    return {name for one in from_run.title(picture) for name in (one.actor, *one.others) if name}


def cast(picture: Timeline) -> list[DrawnGrant]:
    """Return the grants of the title, in the order in which they began.

    They are those of the loss, of the requests that the title names, of the fault, and of a thief, and the one whose fence made
    the resource refuse a write.
    """
    places = set[int]()
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        places |= {loss.culprit, loss.victim}
        robbed = set() if picture.votes else {picture.held[place].lease for place in places - {NEVER}}
        places |= {life.by for number, life in enumerate(picture.lives) if number in robbed and life.how == "del"}
    names = named(picture)
    if picture.focus_fault != NEVER:
        names.add(picture.faults[picture.focus_fault].request)
    since, until = picture.opens
    for place, held in enumerate(picture.held):
        if held.request in names and held.got <= until and held.until >= since:
            places.add(place)
    seen = {held.fences[1] for held in picture.held if held.fences is not None}
    places |= {place for place, held in enumerate(picture.held) if held.fence in seen}
    return [picture.held[place] for place in sorted(places - {NEVER})]
