"""What a run's drawing has of the run as a whole: its faults, the lock's servers, the waiting, the counter, and the losses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from lab.evidence.fault_record import Effect
from lab.report.lanes.grants import Grants
from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Axis, Rows, is_stuck
from lab.report.timeline_votes import FORGOTTEN, answers
from lab.story import say
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Timeline, Waited

SEEN = 0.02  # of the width; a shorter wait is not drawn


def draw_stops(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Shade the replicas whose process was not running, or was stopped."""
    for fault in picture.faults:
        end = back(fault)
        if fault.replica == NEVER or end <= fault.at:
            continue
        top = rows.of_replica[fault.replica] - 0.5
        bottom = next(lane.bottom for lane in rows.lanes if lane.name == picture.replicas[fault.replica])
        meaning = "process_gone" if fault.back != NEVER else "process_stopped"
        pen.bars([(fault.at, end)], top, bottom - top, "down", meaning)


def back(fault: DrawnFault) -> int:
    """Return when the stopped or killed process of a replica ran again; NEVER if the fault did neither."""
    if fault.back != NEVER:
        return fault.back
    return fault.recovered if fault.effect is Effect.PROCESS_STOPS else NEVER


def draw_faults(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw when each fault began, how long it lasted, and where."""
    row = rows.of_faults
    for fault in picture.faults:
        if not pen.sees(fault.at, fault.at):
            continue
        pen.ticks([fault.at], 0, rows.number, "begins", "fault_begins")
        end = max(fault.recovered, fault.at) if back(fault) == NEVER else fault.at
        pen.bars([(fault.at, end)], row - 0.3, 0.6, "fault", "fault_lasts")
        where = pen.say("at", place=picture.replicas[fault.replica]) if fault.replica != NEVER else ""
        kind = say.fault(fault.kind, pen.language) if pen.language is not say.ENGLISH else fault.kind.replace("_", " ")
        words = pen.say("fault_of" if fault.request else "fault", kind=kind, request=fault.request, where=where)
        pen.label(words, fault.at, [row + 0.18, row - 0.14, row + 0.5], [("left", 6), ("right", -6)])


def waiting_steps(picture: Timeline, axis: Axis) -> list[tuple[int, int]]:
    """Return how many requests waited: steps of a moment and the number from then on, to the end of the axis.

    The steps of a kept picture end with what it opens on. Nobody gets the lock any more in a dense end: each request that asks
    later waits, until it gives up.
    """
    steps = list(picture.waiting)
    known = picture.shown[1]
    if not steps or axis.until <= known or not picture.is_stuck:
        return steps
    later = sorted(
        [(waited.asked, 1) for waited in picture.waited if waited.asked > known]
        + [(waited.gave_up, -1) for waited in picture.waited if waited.gave_up > known]
    )
    numbers = accumulate((turn for _, turn in later), initial=steps[-1][1])
    next(numbers)
    return [step for step in steps if step[0] <= known] + list(zip((at for at, _ in later), numbers, strict=True))


def draw_waiting(pen: Pen, picture: Timeline, rows: Rows, named: Collection[str]) -> None:
    """Draw how many requests of all replicas wait, which of them give up, and since when the title's requests wait."""
    row, axis = rows.of_waiting, pen.axis
    if row == NEVER:
        return
    steps = waiting_steps(picture, axis)
    most = max(number for _, number in steps)
    pen.area([(at, number / most) for at, number in steps], row + 0.42, 0.7, "waiting", "waiters")
    gave_up = [waited for waited in picture.waited if pen.sees(waited.gave_up, waited.gave_up)]
    pen.signs([waited.gave_up for waited in gave_up], row - 0.3, "cross", "gives_up", "harm")
    for waited in gave_up:
        if waited.request in named:
            draw_wait(pen, waited, row)
    if picture.is_stuck and gave_up:
        pen.label(pen.say("gave_up", len(gave_up)), axis.until, [row + 0.36], [("right", -4)], "first bad")
    in_view = [(max(at, axis.since), number) for at, number in steps if at <= axis.until]
    ends = [at for at, _ in steps[1:]] + [axis.until]
    seen = [step for step, end in zip(in_view, ends, strict=False) if end >= axis.since]
    at, number = max(seen, key=lambda step: step[1], default=(0, 0))
    if number:
        pen.label(pen.say("waiting", number), at, [row + 0.36], [("left", 4), ("right", -4)])


def draw_wait(pen: Pen, waited: Waited, row: float) -> None:
    """Draw how long a request of the title waited until it gave up."""
    pen.bars([(waited.asked, waited.gave_up)], row - 0.33, 0.06, "wait", "wait")
    pen.label(waited.request, waited.asked, [row], [("left", 4)], "first bold", waited.gave_up)


def draw_counter(pen: Pen, picture: Timeline, rows: Rows, grants: Grants) -> None:
    """Draw the counter's lane, in the order in which it took the writes. The numbers of the loss have room first."""
    row = rows.of_counter
    if row == NEVER:
        return
    bad = {id(picture.held[loss.culprit]) for loss in picture.losses}
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    first = {id(picture.held[place]) for place in ((loss.culprit, loss.victim) if loss else ()) if place != NEVER}
    sides = [("center", 0), ("left", 4), ("left", 7), ("right", -4)]
    for held in sorted(rows.writes, key=lambda held: (id(held) not in first, held.wrote_in)):
        is_bad, is_first = id(held) in bad, id(held) in first
        meaning = "overwrites" if is_bad else grants.written
        pen.ticks([held.wrote_in], row - 0.42, row - 0.1, "write over" if is_bad else "write", meaning)
        words = str(held.wrote if held.counter is None else held.counter)
        kind = " ".join(name for name, wanted in (("first", is_first), ("bad", is_bad)) if wanted)
        pen.label(words, held.wrote_in, [row + 0.38], sides if is_first else sides[:1], kind)
    for at in picture.gaps:
        pen.write("?", at, row + 0.1, "right", -2, "bad")
        pen.marks.setdefault("gap", '<text x="9" y="12">?</text>')


def draw_loss(pen: Pen, picture: Timeline, grants: Grants) -> None:
    """Draw the loss that the picture is about: the time that both were inside, and an arc from one write to the other."""
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    if loss is None or loss.victim == NEVER:
        return
    both = [picture.held[place] for place in (loss.culprit, loss.victim)]
    since, until = max(held.got for held in both), min(held.until for held in both)
    rows = [grants.rows.of(held) for held in both]
    for row in rows:
        pen.bars([(since, until)], row - 0.08, 0.07, "both", "both")
    ends = [(held.wrote_moment, row + 0.08) for held, row in zip(both, rows, strict=True)]
    pen.arc(ends[0], ends[1], "arc")


def draw_asked(pen: Pen, grants: Grants, cast: Sequence[DrawnGrant]) -> None:
    """Draw since when the title's requests had waited for their grants, where the wait is long enough to be seen."""
    longest = SEEN * (pen.axis.until - pen.axis.since)
    for held in cast:
        if held.got - held.asked >= longest:
            pen.bars([(held.asked, held.got)], grants.rows.of(held) - 0.27, 0.06, "wait", "wait")


BAR = 0.2  # half of a lease's height
VOTE = 0.2  # half of a vote's


def draw_store(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the leases of the lock's key. Without events of the store, draw a lock that nobody got any more."""
    row = rows.of_store
    if row == NEVER:
        return
    for life in rows.lives:
        end = life.end(picture.end)
        pen.bars([(life.born, end)], row - BAR, 2 * BAR, "lease", "lease")
        pen.bars([(end, life.removed(picture.end))], row - BAR, 2 * BAR, "expired", "expired")
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
        row, end = rows.of_voter[vote.place], vote.end(picture.end)
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
