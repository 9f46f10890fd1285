"""The messages between holders and the lock's store, where the journals and the store's events know both ends."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.chart import RED
from lab.report.still.grants import Grants
from lab.report.still.pen import Pen
from lab.report.still.rows import Rows
from lab.story.timeline import NEVER, DrawnGrant, Timeline

MOST = 12  # grants in view; among more, the arrows would hide what happens
GREY_LINE = "#777777"
BELOW = 0.22  # the lower edge of a lease, from the middle of its row
MEANING = "message to the lock's store"
THEFT = "release that deletes another request's lock"


def draw_messages(pen: Pen, picture: Timeline, rows: Rows, grants: Grants, cast: Collection[DrawnGrant]) -> None:
    """Draw an acquire to the moment at which the key was set, a release to the moment at which it was deleted.

    The lab receives the store's events late. So a message arrives at the latest when its answer is back.
    """
    if rows.of_store == NEVER:
        return
    visible = {id(held) for held in rows.visible}
    wanted = visible if len(visible) <= MOST else {id(held) for held in cast} & visible
    store = rows.of_store + BELOW
    for life in rows.lives:
        holder, thief = (picture.held[place] if place != NEVER else None for place in (life.holder, life.by))
        if holder is not None and id(holder) in wanted and holder.acquiring != NEVER:
            start = holder.acquiring, grants.row(holder) - 0.4
            pen.arrow(start, (min(max(life.born, holder.acquiring), holder.got), store), MEANING, GREY_LINE)
        if thief is None or id(thief) not in wanted or life.how != "del":
            continue
        arrives = min(max(life.gone, thief.until), max(thief.released, thief.until))
        if thief is holder:
            pen.arrow((thief.until, grants.row(thief) - 0.4), (arrives, store), MEANING, GREY_LINE)
        elif holder is not None and holder.until > life.gone:  # it still worked: it had not sent its own release
            pen.arrow((arrives, grants.row(thief) - 0.25), (arrives, store), THEFT, RED, 1.8)
            names = f"{thief.request} deletes the lock of {holder.request}"
            pen.label(names, arrives, [store + 0.33, rows.of_store - BELOW], [("left", 5), ("right", -5)], RED, bold=True)
