"""The messages between holders and the lock's store, where the journals and the store's events know both ends."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.lanes.grants import Grants
from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Rows
from lab.story.timeline import NEVER, DrawnGrant, Timeline

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
    wanted = visible if grants.is_labelled or pen.whole else own & visible
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
