"""What a still timeline draws of the lock's store: its key's leases, or the votes of its servers."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.chart import GREEN, GREY, RED
from lab.report.still.pen import BLACK, LETTER_ROWS, Pen
from lab.report.still.rows import Rows, gone, is_stuck, lease_end
from lab.report.timeline_votes import FORGOTTEN, answers
from lab.story.timeline import NEVER, DrawnGrant, Timeline

FOR_EVER = "held for ever: nothing frees the lock  ⟶"
BAR = 0.2  # half of a lease's height
VOTE = 0.2  # half of a vote's


def draw_store(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the leases of the lock's key. Without events of the store, draw a lock that nobody got any more."""
    row = rows.of_store
    if row == NEVER:
        return
    ends = [(life, lease_end(life, picture), gone(life, picture)) for life in rows.lives]
    pen.bars([(life.born, end) for life, end, _ in ends], row - BAR, 2 * BAR, GREEN, "lease: the key exists")
    expired = [(end, gone_at) for _, end, gone_at in ends]
    pen.bars(expired, row - BAR, 2 * BAR, GREEN, "expired, and not removed yet", 0.35)
    stuck = max((life.born for life in rows.lives if is_stuck(life, picture)), default=NEVER)
    if stuck == NEVER and picture.is_stuck and not rows.lives:
        last = max((held.got for held in picture.held), default=picture.faults[picture.focus_fault].at)
        pen.bars([(last, picture.end)], row - BAR, 2 * BAR, GREEN, "nobody gets the lock any more")
        stuck = last
    if stuck != NEVER:
        pen.bars([(max(stuck, pen.axis.since), pen.axis.until)], row - BAR, 2 * BAR, GREEN)
        pen.write(FOR_EVER, pen.axis.until, row - BAR - 0.02, "right", -2, RED, bold=True)


def draw_votes(pen: Pen, picture: Timeline, rows: Rows, cast: Collection[DrawnGrant]) -> None:
    """Draw the votes of each lock server: those for the grants of the title dark, with their requests' names."""
    if not rows.votes:
        return
    named = {place: held for place, held in enumerate(picture.held) if held in cast}
    for vote in rows.votes:
        row, end = rows.of_voter[vote.node], vote.end(picture.end)
        if vote.holder in named:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, GREEN, "vote for a request of the title", zorder=1.5)
        elif vote.holder != NEVER:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, GREEN, "vote for another holder", 0.35)
        else:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, GREY, "vote without a majority", 0.6)
        if vote.how == FORGOTTEN and vote.holder in named:
            pen.signs([vote.gone], row, "x", "the server forgets its vote", RED, 7)
    for place in named:
        draw_answers(pen, picture, rows, place)


def draw_answers(pen: Pen, picture: Timeline, rows: Rows, place: int) -> None:
    """Draw how each server voted in the acquire of a grant."""
    held, given = picture.held[place], answers(picture, place)
    for node in given["granted"]:
        pen.label(held.request, held.got, [rows.of_voter[node] + LETTER_ROWS / 2], [("left", 5)], BLACK, bold=True)
    for node in given["refused"]:
        pen.signs([held.got], rows.of_voter[node], "D", "refused: another request's key is there", BLACK, 5, hollow=True)
    for node in given["silent"]:
        pen.signs([held.got], rows.of_voter[node], "o", "no vote: the server reports no key", BLACK, 5, hollow=True)
