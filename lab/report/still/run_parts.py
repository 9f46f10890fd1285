"""What a still timeline draws of the run as a whole: its faults, the waiting, the counter, and the loss that it is about."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lab.evidence.fault_effect import Effect
from lab.report.chart import BLUE, GREY, RED, amount
from lab.report.still.axis import Axis
from lab.report.still.grants import Grants
from lab.report.still.pen import BLACK, Pen
from lab.report.still.rows import Rows
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Timeline, Waited

WAIT = "#555555"
NARROW, WIDE = 0.6, 2  # the lines of a counter's numbers, in points


def draw_stops(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Shade the replicas whose process was not running, or was stopped."""
    for fault in picture.faults:
        end = back(fault)
        if fault.replica == NEVER or end <= fault.at:
            continue
        top = rows.of_replica[fault.replica] - 0.5
        bottom = next(lane.bottom for lane in rows.lanes if lane.name == picture.replicas[fault.replica])
        meaning = "the replica's process is not running" if fault.back != NEVER else "the replica's process is stopped"
        span = (max(fault.at, pen.axis.since), min(end, pen.axis.until))
        pen.bars([span], top, bottom - top, GREY, meaning, 0.3, zorder=0.5)


def back(fault: DrawnFault) -> int:
    """Return when the stopped or killed process of a replica ran again; NEVER if the fault did neither."""
    if fault.back != NEVER:
        return fault.back
    return fault.recovered if fault.effect is Effect.PROCESS_STOPS else NEVER


def draw_faults(pen: Pen, picture: Timeline, rows: Rows) -> None:
    """Draw when each fault began, how long it lasted, and where."""
    row = rows.of_faults
    for fault in picture.faults:
        if not pen.axis.has(fault.at):
            continue
        pen.axes.axvline(fault.at / 1e6, color=RED, linestyle=":", linewidth=1.4, zorder=1.2)
        pen.marks.setdefault("a fault begins", Line2D([], [], color=RED, linestyle=":", linewidth=1.4))
        span = (fault.at, min(max(fault.recovered, fault.at), pen.axis.until))
        if back(fault) == NEVER:
            pen.bars([span], row - 0.3, 0.6, GREY, "the fault lasts", 0.3)
        where = f"at {picture.replicas[fault.replica]}" if fault.replica != NEVER else ""
        whom = " ".join(word for word in (fault.request, where) if word)
        kind = fault.kind.replace("_", " ")
        words = f"{kind}: {whom}" if fault.request else f"{kind} {whom}"
        pen.label(words, fault.at, [row + 0.18, row - 0.14, row + 0.5], [("left", 5), ("right", -5)])


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
    ends = [at for at, _ in steps[1:]] + [axis.until]
    for (at, number), end in zip(steps, ends, strict=True):
        pen.bars([(max(at, axis.since), min(end, axis.until))], row + 0.42, -0.7 * number / most, GREY, alpha=0.5)
    pen.marks["requests that wait for the lock"] = Patch(color=GREY, alpha=0.5, linewidth=0)
    gave_up = [waited for waited in picture.waited if axis.has(waited.gave_up)]
    pen.signs([waited.gave_up for waited in gave_up], row - 0.3, "x", "a request gives up", RED, 5)
    for waited in gave_up:
        if waited.request in named:
            draw_wait(pen, waited, row)
    if picture.is_stuck and gave_up:
        words = f"{amount(len(gave_up), 'request')} gave up"
        pen.label(words, axis.until, [row + 0.36], [("right", -4)], RED, bold=True)
    at, number = max(((at, number) for at, number in steps if at <= axis.until), key=lambda step: step[1])
    if number:
        pen.label(f"{number} waiting", max(at, axis.since), [row + 0.36], [("left", 4), ("right", -4)])


def draw_wait(pen: Pen, waited: Waited, row: float) -> None:
    """Draw how long a request of the title waited until it gave up."""
    pen.bars([(waited.asked, waited.gave_up)], row - 0.33, 0.06, WAIT, "the wait of a request of the title")
    pen.label(waited.request, max(waited.asked, pen.axis.since), [row], [("left", 3)], bold=True)


def draw_counter(pen: Pen, picture: Timeline, rows: Rows, grants: Grants) -> None:
    """Draw the counter's lane, in the order in which it took the writes. The numbers of the loss have room first."""
    row = rows.of_counter
    if row == NEVER:
        return
    writes = sorted(rows.writes, key=lambda held: held.wrote_in)
    bad = {id(picture.held[loss.culprit]) for loss in picture.losses}
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    first = {id(picture.held[place]) for place in ((loss.culprit, loss.victim) if loss else ()) if place != NEVER}
    sides = [("center", 0), ("left", 3), ("left", 6), ("right", -3)]
    for held in sorted(writes, key=lambda held: (id(held) not in first, held.wrote_in)):
        colour = RED if id(held) in bad else BLUE
        meaning = "write that overwrote increments" if id(held) in bad else grants.written
        pen.ticks([held.wrote_in], row - 0.42, row - 0.1, colour, meaning, NARROW if grants.is_crowded else WIDE)
        words = str(held.wrote if held.counter is None else held.counter)
        words_colour = RED if id(held) in bad else BLACK
        pen.label(words, held.wrote_in, [row + 0.38], sides if id(held) in first else sides[:1], words_colour, id(held) in first)
    for at in picture.gaps:
        meaning = "the counter held a number that no write in the picture had left"
        pen.marks.setdefault(meaning, Line2D([], [], linestyle="none", marker="$?$", color=RED))
        pen.write("?", at, row + 0.1, "right", -2, RED, bold=True)


def draw_loss(pen: Pen, picture: Timeline, grants: Grants) -> None:
    """Draw the time that both requests of the loss were inside, and an arrow from the one write to the other."""
    loss = picture.losses[picture.focus] if picture.focus != NEVER else None
    if loss is None or loss.victim == NEVER:
        return
    culprit, victim = (picture.held[place] for place in (loss.culprit, loss.victim))
    overlap = (max(culprit.got, victim.got), min(culprit.until, victim.until))
    rows = [grants.row(held) for held in (culprit, victim)]
    for row in rows:
        pen.bars([overlap], row - 0.08, 0.07, RED, "both are inside at once", zorder=1.6)
    points = [(held.wrote_moment / 1e6, row + 0.08) for held, row in zip((culprit, victim), rows, strict=True)]
    arrow = {"arrowstyle": "->", "color": RED, "linewidth": 1.8, "connectionstyle": "arc3,rad=0.3"}
    pen.axes.annotate("", points[1], xytext=points[0], arrowprops=arrow, zorder=3.5)
    line = Line2D([], [], color=RED, linestyle="none", marker="$→$", markersize=12)
    pen.marks["write → the write that it overwrote"] = line


def draw_asked(pen: Pen, grants: Grants, cast: Collection[DrawnGrant], longest_us: int) -> None:
    """Draw since when the title's requests had waited for their grants, where the wait is long enough to be seen."""
    spans = [(held, max(held.asked, pen.axis.since)) for held in cast if held.got - held.asked >= longest_us]
    for held, since in spans:
        pen.bars([(since, held.got)], grants.row(held) - 0.27, 0.06, WAIT, "the wait of a request of the title")
