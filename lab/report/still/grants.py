"""What a still timeline draws of each grant: what the request believes, its lease, its fence, its read and its write."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.chart import BLUE, GREEN, ORANGE, RED
from lab.report.still.pen import BLACK, Pen
from lab.report.still.rows import Rows, lease_end
from lab.report.timeline_votes import majority_end
from lab.story.timeline import NEVER, DrawnGrant, Timeline

BELIEF, ALONE, READ, WROTE = "#a9d3ee", "#f2bd4d", "#b9bdc0", "#7db5d8"  # as on the page
MOST_LABELS = 24  # grants; among more, only those of the title are labelled
MOST_READS = 60  # grants; among more, only the writes are drawn
NAME, NUMBER = -0.09, 0.47  # where the lower edge of a name is, and that of a number, from the middle of a row
SHORT = 0.02  # of the width; the name of a shorter grant does not fit in its bar
ROOM_FOR_BOTH = 0.07  # of the width, between a read and its write, to write a number on their inner sides


class Grants:
    """The grants in view."""

    def __init__(self, pen: Pen, picture: Timeline, rows: Rows, cast: Collection[DrawnGrant]) -> None:
        self.pen, self.picture, self.rows = pen, picture, rows
        self.cast = {id(held) for held in cast}
        self.is_crowded = len(rows.visible) > MOST_READS
        self.is_labelled = len(rows.visible) <= MOST_LABELS
        self.places = {id(held): place for place, held in enumerate(picture.held)}

    @property
    def written(self) -> str:
        """Return what the legend states of a write: among many grants it has no bar."""
        return "write" if self.is_crowded else "write (bar: sent to answered)"

    def row(self, held: DrawnGrant) -> float:
        """Return the middle of a grant's row."""
        return self.rows.of_replica[held.replica] + held.slot

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

    def belief(self, held: DrawnGrant) -> None:
        """Draw what the request believes, and the lease that it has."""
        pen, y = self.pen, self.row(held)
        locked = self.picture.is_locked
        if held.outer_got != NEVER:
            meaning = "holds the outer lock, asks for it again"
            pen.bars([(held.outer_got, held.outer_until)], y - 0.4, 0.32, BELIEF, meaning, 0.45)
        meaning = "belief: the request acts as the holder" if locked else "the request is in the work"
        pen.bars([(held.got, held.until)], y - 0.4, 0.32, BELIEF, meaning)
        if locked and not self.is_crowded:
            calls = [(since, until) for since, until in ((held.acquiring, held.got), (held.until, held.released)) if since >= 0]
            if held.released != NEVER:
                pen.bars(calls, y - 0.32, 0.14, READ, "acquire, release: sent to answered", zorder=0.9)
        since, end = self.lease(held)
        if since != NEVER:
            pen.bars([(since, end)], y - 0.01, 0.07, GREEN)
            pen.bars([(max(end, held.got), held.until)], y - 0.4, 0.32, ALONE, "belief without a lease")
        elif (taken := self.taken_over(held)) != NEVER:
            pen.bars([(taken, held.until)], y - 0.4, 0.32, ALONE, "belief while another request has the lock")

    def lease(self, held: DrawnGrant) -> tuple[int, int]:
        """Return since when and until when the lock's servers kept the lock for a grant; NEVER where it is not known."""
        if self.picture.votes:
            end = majority_end(self.picture, self.places[id(held)])
            return (NEVER, NEVER) if end == NEVER else (held.got, end)
        if held.lease == NEVER:
            return NEVER, NEVER
        life = self.picture.lives[held.lease]
        return life.born, lease_end(life, self.picture)

    def taken_over(self, held: DrawnGrant) -> int:
        """Return when another request got the lock of a holder that a fault had stopped; NEVER where none did.

        It is for stores that report nothing of their keys: by then at the latest, the lease was over.
        """
        if self.picture.lives or self.picture.votes or held.request not in {fault.request for fault in self.picture.faults}:
            return NEVER
        later = (one.got for one in self.picture.held if one.key == held.key and held.got < one.got < held.until)
        return min(later, default=NEVER) if self.picture.is_locked and self.picture.asked_store else NEVER

    def effects(self, held: DrawnGrant) -> None:
        """Draw the read and the write: from sent to answered, and the moment between the two."""
        pen, y = self.pen, self.row(held)
        if held.read is not None and held.read_at != NEVER and not self.is_crowded:
            pen.bars([(held.reading, held.read_at)], y + 0.08, 0.08, READ)
            pen.ticks([held.read_moment], y + 0.06, y + 0.44, "#222222", "read (bar: sent to answered)", 1.2)
        if held.is_refused:
            size = 7 if id(held) in self.cast or not self.is_crowded else 3
            pen.signs([held.refused_moment], y + 0.26, "x", "write that the resource refused", RED, size)
        if held.is_abandoned:
            pen.signs([held.until], y + 0.26, "s", "work that is given up before its write", ORANGE, 6)
        elif held.result.startswith("error: ") and not held.is_refused:
            pen.signs([held.until], y + 0.26, "D", "work or release that failed", ORANGE, 6)
        if held.wrote is None:
            return
        if held.writing != NEVER and not self.is_crowded:
            pen.bars([(held.writing, held.wrote_at)], y + 0.08, 0.08, WROTE)
        pen.ticks([held.wrote_moment], y + 0.06, y + 0.44, BLUE, self.written, 0.6 if self.is_crowded else 2)

    def renewals(self) -> None:
        """Draw renewals above the row of the replica that sent them, and apart those after which a key was set anew."""
        for place, middle in enumerate(self.rows.of_replica):
            own = [renewal for renewal in self.rows.renewals if renewal.replica == place]
            self.pen.signs([one.at for one in own if one.succeeded], middle - 0.45, "v", "renewal")
            failed = [one.at for one in own if not one.succeeded]
            self.pen.signs(failed, middle - 0.45, "v", "renewal in vain: nothing was prolonged", RED, 5, hollow=True)
        if not self.rows.renewals and self.rows.of_store != NEVER:
            touched = [at for life in self.rows.lives for at in life.touched]
            self.pen.signs(touched, self.rows.of_store - 0.34, "v", "the key's time to live is set", size=4)

    def labels(self, held: DrawnGrant) -> None:
        """Name the request, with its fence, and write the numbers that it read and wrote next to their moments."""
        y, pen = self.row(held), self.pen
        is_cast = id(held) in self.cast
        name = held.request + (f", fence {_fence(held)}" if _fence(held) and (is_cast or self.is_labelled) else "")
        begins = max(held.got, pen.axis.since)
        sides = [("left", 3), ("right", -3)] if is_cast else [("left", 3)]
        pen.label(
            name, begins, [y + NAME], sides, bold=is_cast, ground=held.until - begins < SHORT * (pen.axis.until - pen.axis.since)
        )
        if held.is_refused:
            own, seen = held.fences or (0, 0)
            pen.label(
                f"refused: {own} < {seen}" if own < seen else "refused",
                held.refused_moment,
                [y + NUMBER],
                [("left", 7), ("right", -7)],
                RED,
                is_cast,
            )
        is_cramped = held.wrote_moment - held.read_moment < ROOM_FOR_BOTH * (pen.axis.until - pen.axis.since)
        inner, outer = [("left", 3), ("right", -3)], [("right", -3), ("left", 3)]
        if held.read is not None:
            pen.label(f"r={held.read}", held.read_moment, [y + NUMBER], outer[:1] if is_cramped else inner[:1])
        if held.wrote is not None:
            pen.label(f"w={held.wrote}", held.wrote_moment, [y + NUMBER], inner[:1] if is_cramped else outer, BLACK)


def _fence(held: DrawnGrant) -> int:
    """Return the number of a grant; a refused write names it where the journal of the grant does not."""
    return held.fence or (held.fences[0] if held.fences is not None else 0)
