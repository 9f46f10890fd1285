"""What a run's drawing has of the lock's store: its key's leases, or the votes of its servers."""

from __future__ import annotations

from collections.abc import Collection

from lab.report.lanes import tips
from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Rows, gone, is_stuck, lease_end
from lab.report.timeline_votes import FORGOTTEN, answers
from lab.story.timeline import NEVER, DrawnGrant, Timeline

BAR = 0.2  # half of a lease's height
VOTE = 0.2  # half of a vote's


def draw_store(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the leases of the lock's key. Without events of the store, draw a lock that nobody got any more."""
    row = rows.of_store
    if row == NEVER:
        return
    for life in rows.lives:
        about = tips.life(picture, life) if pen.whole else ""
        end = lease_end(life, picture)
        pen.bars([(life.born, end)], row - BAR, 2 * BAR, "lease", "lease", about)
        pen.bars([(end, gone(life, picture))], row - BAR, 2 * BAR, "expired", "expired")
    stuck = max((life.born for life in rows.lives if is_stuck(life, picture)), default=NEVER)
    if stuck == NEVER and picture.is_stuck and not rows.lives:
        last = max((held.got for held in picture.held), default=picture.faults[picture.focus_fault].at)
        pen.bars([(last, picture.end)], row - BAR, 2 * BAR, "lease", "nobody_gets_it")
        stuck = last
    if stuck != NEVER:
        pen.bars([(max(stuck, pen.axis.since), pen.axis.until)], row - BAR, 2 * BAR, "lease")
        pen.write(pen.say("for_ever"), pen.axis.until, row - BAR - 0.02, "right", -2, "bad")


def draw_votes(pen: Pen, picture: Timeline, rows: Rows, cast: Collection[DrawnGrant]) -> None:
    """Draw the votes of each lock server: those for the grants of the title dark, with their requests' names."""
    if not rows.votes:
        return
    wanted = {id(held) for held in cast}
    named = [place for place, held in enumerate(picture.held) if id(held) in wanted]
    for vote in rows.votes:
        row, end = rows.of_voter[vote.node], vote.end(picture.end)
        if vote.holder in named:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, "vote", "vote_of_title")
        elif vote.holder != NEVER:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, "vote-other", "vote_of_other")
        else:
            pen.bars([(vote.born, end)], row - VOTE, 2 * VOTE, "vote-alone", "vote_alone")
        if vote.how == FORGOTTEN and vote.holder in named:
            pen.signs([vote.gone], row, "cross", "vote_forgotten", "harm")
    for place in named:
        draw_answers(pen, picture, rows, place)


def draw_answers(pen: Pen, picture: Timeline, rows: Rows, place: int) -> None:
    """Draw how each server voted in the acquire of a grant."""
    held, given = picture.held[place], answers(picture, place)
    for node in given["granted"]:
        pen.label(held.request, held.got, [rows.of_voter[node] + VOTE - 0.03], [("left", 6)], "first bold")
    for node in given["refused"]:
        pen.signs([held.got], rows.of_voter[node], "diamond", "vote_refused", "plain hollow")
    for node in given["silent"]:
        pen.signs([held.got], rows.of_voter[node], "circle", "no_vote", "plain hollow")
