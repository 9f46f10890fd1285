"""Draw the parts of a run that belong to no single grant: faults, the lock's store, the waiting, the counter, and the losses."""

from __future__ import annotations

from lab.evidence.fault_record import Effect
from lab.report.lanes.grants import LEASE, Grants, named_requests
from lab.report.lanes.pen import Pen
from lab.report.lanes.rows import Rows, is_stuck
from lab.story import say
from lab.story.timeline import FORGOTTEN, NEVER, DrawnFault, Timeline

LABELS_APART = 5  # px: of labels of the counter that are nearer to each other, only the first is tried
BAR = (-0.2, 0.4)  # the top and the height of a lease or a vote, in rows from the middle of its row


def draw_stops(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Shade the times in which the process of a replica did not run, or was stopped."""
    for fault in picture.faults:
        if fault.replica != NEVER and (end := ran_again(fault)) > fault.at:
            top = rows.of_replica[fault.replica]
            bottom = next(lane.bottom for lane in rows.lanes if lane.name == picture.replicas[fault.replica])
            meaning = "process_gone" if fault.back != NEVER else "process_stopped"
            pen.bars([(top, fault.at, end)], -0.5, bottom - top + 0.5, "down", meaning)


def ran_again(fault: DrawnFault) -> int:
    """Return when the process of a replica ran again after a fault; NEVER if the fault neither stopped nor killed it."""
    if fault.back != NEVER:
        return fault.back
    return fault.recovered if fault.effect is Effect.PROCESS_STOPS else NEVER


def draw_faults(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the beginning, the duration and the place of each fault."""
    row = rows.of_faults
    lasting = ((row, fault.at, fault.recovered) for fault in picture.faults if ran_again(fault) == NEVER and rows.sees(fault.at))
    pen.bars(lasting, -0.3, 0.6, "fault", "fault_lasts")
    pen.ticks([(0, fault.at) for fault in picture.faults], 0, rows.number, "begins", "fault_begins")
    for fault in picture.faults:
        place = pen.say("at", place=picture.replicas[fault.replica]) if fault.replica != NEVER else ""
        kind = say.fault(fault.kind, pen.language) if pen.language is not say.ENGLISH else fault.kind.replace("_", " ")
        words = pen.say("fault_of" if fault.request else "fault", kind=kind, request=fault.request, where=place)
        pen.label(words, fault.at, [row + 0.18, row - 0.14, row + 0.5], [("left", 6), ("right", -6)])


def draw_waiting(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the number of waiting requests, the requests that give up, and the waits of the requests in the title."""
    row, since, until = rows.of_waiting, rows.since, rows.until
    if row == NEVER:
        return
    steps = picture.waiting
    most = max(number for _, number in steps)
    pen.area([(at, number / most) for at, number in steps], row + 0.42, 0.7, "waiting", "waiters")
    gave_up = [waited for waited in picture.waited if rows.sees(waited.gave_up)]
    pen.signs([(row, waited.gave_up) for waited in gave_up], -0.3, "cross", "gives_up", "harm")
    names = named_requests(picture) if gave_up else ()
    for waited in gave_up:
        if waited.request in names:
            pen.bars([(row, waited.asked, waited.gave_up)], -0.33, 0.06, "wait", "wait")
            pen.label(waited.request, max(waited.asked, since), [row], [("left", 4)], "first bold")
    ends = [at for at, _ in steps[1:]] + [until]
    visible = [(max(at, since), number) for (at, number), end in zip(steps, ends, strict=True) if at <= until and end >= since]
    at, number = max(visible, key=lambda step: step[1], default=(0, 0))
    if number:
        pen.label(pen.say("waiting", number), at, [row + 0.36], [("left", 4), ("right", -4)])


def draw_counter(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the counter's lane, with the writes in the counter's order. The numbers of the loss get room first."""
    row = rows.of_counter
    if row == NEVER:
        return
    bad = {id(picture.held[loss.culprit]) for loss in picture.losses}
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    first = {id(picture.held[place]) for place in ((loss.culprit, loss.victim) if loss else ()) if place != NEVER}
    last = -1.0 * LABELS_APART  # the position of the last label, in px
    for held in sorted(rows.writes, key=lambda held: (id(held) not in first, held.wrote_in)):
        is_bad, is_first = id(held) in bad, id(held) in first
        look, meaning = ("write over", "overwrites") if is_bad else ("write", "write")
        pen.ticks([(row, held.wrote_in)], -0.42, -0.1, look, meaning)
        x = pen.at(held.wrote_in, row)[0]
        if is_first or x >= last + LABELS_APART:
            last = last if is_first else x
            sides = [("center", 0.0), ("left", 4), ("left", 7), ("right", -4)] if is_first else [("center", 0.0)]
            words = str(held.wrote if held.counter is None else held.counter)
            pen.label(words, held.wrote_in, [row + 0.38], sides, f"{'first ' * is_first}{'bad' * is_bad}".strip())


def draw_loss(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the loss in focus: the time with both requests inside, and an arc from the culprit's write to the victim's."""
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    if loss is None or loss.victim == NEVER:
        return
    grants_of_loss = [picture.held[place] for place in (loss.culprit, loss.victim)]
    since, until = max(held.got for held in grants_of_loss), min(held.until for held in grants_of_loss)
    pen.bars(((rows.row_of(held), since, until) for held in grants_of_loss), -0.08, 0.07, "both", "both")
    start, end = ((held.wrote_moment, rows.row_of(held) + 0.08) for held in grants_of_loss)
    pen.arrow(start, end, "loss arc", "arc", arc=True)


def draw_store(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw the leases of the lock's key. Without events of the store, draw a lock that no request gets any more."""
    row = rows.of_store
    if row == NEVER:
        return
    ends = [(row, life.born, life.end(picture.end), life.removed(picture.end)) for life in rows.lives]
    pen.bars(((row, end, removed) for row, _, end, removed in ends), *BAR, "expired", "expired")
    pen.bars(((row, born, end) for row, born, end, _ in ends), *BAR, "lease", "lease")
    stuck = max((life.born for life in rows.lives if is_stuck(life, picture)), default=NEVER)
    if stuck == NEVER and picture.is_stuck and not rows.lives:
        stuck = max((held.got for held in picture.held), default=picture.faults[picture.focus_fault].at)
        pen.bars([(row, stuck, picture.end)], *BAR, "lease", "nobody_gets_it")
    if stuck != NEVER:
        pen.bars([(row, stuck, rows.until)], *BAR, "lease")
        pen.label(pen.say("for_ever"), rows.until, [row - LEASE], [("right", -2)], "bad")


def draw_votes(pen: Pen, picture: Timeline, rows: Rows, grants: Grants) -> None:
    """Draw the votes of each lock server. Votes for the grants of the title are dark, and have the names of their requests."""
    if not rows.votes:
        return
    own = [place for place, held in enumerate(picture.held) if id(held) in grants.own]
    for vote in rows.votes:
        kind, meaning = ("vote", "vote_of_title") if vote.holder in own else ("vote-other", "vote_of_other")
        if vote.holder == NEVER:
            kind, meaning = "vote-alone", "vote_alone"
        pen.bars([(rows.of_voter[vote.place], vote.born, vote.end(picture.end))], *BAR, kind, meaning)
        if vote.how == FORGOTTEN and vote.holder in own:
            pen.signs([(rows.of_voter[vote.place], vote.gone)], 0, "cross", "vote_forgotten", "harm")
    for place in own:
        held = picture.held[place]
        for node in sorted(picture.voted_for(place)):
            pen.label(held.request, held.got, [rows.of_voter[node] + 0.17], [("left", 6)], "first bold")
