"""The timeline of one run as a still picture: the opening view of its page, for print and for readers without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lab.evidence.fault_effect import Effect
from lab.report.chart import BLUE, GREEN, GREY, RED, conditions, title
from lab.report.run_data import Result
from lab.report.timeline_model import NEVER, DrawnFault, DrawnGrant, Life, Timeline, load
from lab.report.timeline_title import finding

FOR = "one"
BELIEF, ALONE, READ, WROTE = "#a9d3ee", "#f2bd4d", "#b9bdc0", "#7db5d8"  # as on the page
MOST_LABELS = 24  # grants; more labels could not be read
MOST_READS = 60  # grants; among more, only the writes are drawn
MOST_SLOTS = 12  # rows of all replicas together that have the full height
ROOM_FOR_BOTH = 0.07  # of the width, between a read and its write, to label both
ROOM_FOR_A_LETTER = 0.0095  # of the width
LEGEND_COLUMNS = 3
Spans = Sequence[tuple[float, float]]


def fits(results: Sequence[Result]) -> bool:
    """Return whether a request did its work, and whether the folder has a timeline."""
    return all((picture := load(result.folder / "timeline.json")) is not None and picture.held for result in results)


def height(results: Sequence[Result]) -> float:
    """Return the height in inches: each row of each lane has the same."""
    (result,) = results
    picture = load(result.folder / "timeline.json")
    return 4.6 if picture is None else 2.6 + 0.42 * min(_Rows(picture).number, MOST_SLOTS)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    picture = load(result.folder / "timeline.json")
    if picture is None:
        return
    still = _Still(axes, picture)
    still.lanes()
    still.stops()
    still.store()
    for held in still.visible:
        still.held(held)
    still.counter()
    still.waiting()
    still.faults()
    still.loss()
    axes.set_xlim(picture.opens[0] / 1e6, picture.opens[1] / 1e6)
    axes.set_ylim(still.rows.number - 0.4, -0.6)
    axes.set_xlabel("seconds since the first request")
    axes.grid(visible=False, axis="y")
    still.legend()
    title(axes, finding(picture), conditions(results))


class _Rows:
    """The rows of the picture, from the top: faults, the lock's store, a row for each slot of each replica, waiting, the counter.

    A lane that would be empty is left out.
    """

    def __init__(self, picture: Timeline) -> None:
        since, until = picture.opens
        self.visible = [held for held in picture.held if held.got <= until and held.until >= since]
        locks = picture.lock_keys
        lives = [life for life in picture.lives if life.key in locks]
        self.lives = [life for life in lives if life.born <= until and _gone(life, picture) >= since]
        self.renewals = [renewal for renewal in picture.renewals if since <= renewal.at <= until]
        self.writes = [held for held in self.visible if held.wrote_in != NEVER and since <= held.wrote_in <= until]
        self.names: dict[float, str] = {}
        self.number = 0
        self.of_faults = self._add("faults", any(since <= fault.at <= until for fault in picture.faults))
        self.of_store = self._add("the lock's store", bool(self.lives or self.renewals))
        self.of_replica = []
        for place, name in enumerate(picture.replicas):
            slots = 1 + max((held.slot for held in self.visible if held.replica == place), default=0)
            self.of_replica.append(self._add(name, True, slots))
        waits = any(number for at, number in picture.waiting if at <= until)
        self.of_waiting = self._add("waiting", waits)
        self.of_counter = self._add("the counter", bool(self.writes))

    def _add(self, name: str, is_there: bool, rows: int = 1) -> int:
        """Add a lane, and return its first row; NEVER without the lane."""
        if not is_there:
            return NEVER
        self.number += rows
        self.names[self.number - rows] = name
        return self.number - rows


class _Still:
    """The drawing. Each kind of mark is noted when it is drawn, and the legend explains those."""

    def __init__(self, axes: Axes, picture: Timeline) -> None:
        self.axes, self.picture = axes, picture
        self.since, self.until = picture.opens
        self.rows = _Rows(picture)
        self.visible = self.rows.visible
        self.is_labelled = len(self.visible) <= MOST_LABELS
        self.is_crowded = len(self.visible) > MOST_READS
        self.destroyers = {loss.culprit for loss in picture.losses}
        self.marks: dict[str, Artist] = {}
        self.taken: dict[float, list[tuple[float, float]]] = {}  # where numbers stand, by row

    @property
    def written(self) -> str:
        """Return what the legend states of a write: among many grants it has no bar."""
        return "write" if self.is_crowded else "write (bar: from sent to answered)"

    @property
    def width(self) -> int:
        return self.until - self.since

    def lanes(self) -> None:
        self.axes.set_yticks(list(self.rows.names), list(self.rows.names.values()))
        for row in self.rows.names:
            self.axes.axhline(row - 0.5, color="#dddddd", linewidth=0.8)

    def bars(self, spans: Spans, y: float, height: float, colour: str, meaning: str = "", alpha: float = 1.0) -> None:
        """Draw bars of one kind. meaning: what the legend states of them."""
        seconds = [(since / 1e6, (until - since) / 1e6) for since, until in spans if until > since]
        if not seconds:
            return
        self.axes.broken_barh(seconds, (y, height), color=colour, alpha=alpha, linewidth=0)
        if meaning:
            self.marks.setdefault(meaning, Patch(color=colour, alpha=alpha, linewidth=0))

    def ticks(self, moments: Iterable[float], low: float, high: float, colour: str, meaning: str, width: float) -> None:
        """Draw moments as lines across a row."""
        seconds = [at / 1e6 for at in moments if self.since <= at <= self.until]
        if not seconds:
            return
        self.axes.vlines(seconds, low, high, color=colour, linewidth=width)
        line = Line2D([], [], color=colour, linestyle="none", marker="|", markersize=11, markeredgewidth=max(1.2, width))
        self.marks.setdefault(meaning, line)

    def store(self) -> None:
        row = self.rows.of_store
        if row == NEVER:
            return
        ends = [(life, _lease_end(life, self.picture), _gone(life, self.picture)) for life in self.rows.lives]
        self.bars([(life.born, end) for life, end, _ in ends], row - 0.2, 0.4, GREEN, "lease: the key exists")
        expired = [(end, gone) for _, end, gone in ends]
        self.bars(expired, row - 0.2, 0.4, GREEN, "the key had expired, and was not removed yet", 0.35)
        touched = [at for life in self.rows.lives for at in life.touched]
        renewed = [renewal.at for renewal in self.rows.renewals]
        moments = [at / 1e6 for at in touched or renewed if self.since <= at <= self.until]
        if moments:
            (drawn,) = self.axes.plot(moments, [row - 0.33] * len(moments), "v", color="#222222", markersize=4)
            self.marks["renewal"] = drawn
        if any(_is_stuck(life, self.picture) for life in self.rows.lives):
            self.write("never freed: the lock is held for ever  ⟶", self.until, row - 0.21, "right", -4, RED, bold=True)

    def held(self, held: DrawnGrant) -> None:
        y = self.rows.of_replica[held.replica] + held.slot
        locked = self.picture.is_locked
        meaning = "belief: the request acts as the holder" if locked else "the request is in the work"
        self.bars([(held.got, held.until)], y - 0.42, 0.36, BELIEF, meaning)
        if locked and not self.is_crowded:
            calls = [(since, until) for since, until in ((held.acquiring, held.got), (held.until, held.released)) if since >= 0]
            if held.released != NEVER:
                self.bars(calls, y - 0.32, 0.16, READ, "acquire, release: from sent to answered")
        if held.lease != NEVER:
            end = _lease_end(self.picture.lives[held.lease], self.picture)
            self.bars([(self.picture.lives[held.lease].born, end)], y - 0.04, 0.08, GREEN)
            if end < held.until:
                self.bars([(max(end, held.got), held.until)], y - 0.42, 0.36, ALONE, "belief without a lease")
        self.effects(held, y)
        if self.is_labelled:
            self.number(held.request, max(held.got, self.since), y, "left", 3, [-0.08])

    def effects(self, held: DrawnGrant, y: float) -> None:
        """Draw the read and the write: from sent to answered, and the moment between the two."""
        if held.read is not None and held.read_at != NEVER and not self.is_crowded:
            self.bars([(held.reading, held.read_at)], y + 0.06, 0.08, READ)
            self.ticks([held.read_moment], y + 0.04, y + 0.4, "#222222", "read (bar: from sent to answered)", 1.2)
        if held.is_refused:
            self.refused(held, y)
        if held.wrote is None:
            return
        if held.writing != NEVER and not self.is_crowded:
            self.bars([(held.writing, held.wrote_at)], y + 0.06, 0.08, WROTE)
        width = 0.6 if self.is_crowded else 2
        self.ticks([held.wrote_moment], y + 0.04, y + 0.4, BLUE, self.written, width)
        if self.is_labelled:
            self.numbers(held, y)

    def refused(self, held: DrawnGrant, y: float) -> None:
        """Mark a write that the resource did not accept."""
        if self.since <= held.until <= self.until:
            (drawn,) = self.axes.plot([held.until / 1e6], [y + 0.2], "x", color=RED, markersize=7, markeredgewidth=2)
            self.marks["write that was refused"] = drawn

    def numbers(self, held: DrawnGrant, y: float) -> None:
        """Write the numbers that were read and written next to their moments."""
        is_cramped = held.wrote_moment - held.read_moment < ROOM_FOR_BOTH * self.width
        if held.read is not None:
            side, aside = ("right", -3) if is_cramped else ("left", 3)
            self.number(f"r={held.read}", held.read_moment, y, side, aside)
        side, aside = ("left", 3) if is_cramped else ("right", -3)
        self.number(f"w={held.wrote}", held.wrote_moment, y, side, aside)

    def number(self, words: str, at: float, y: float, side: str, aside: int, lower: Sequence[float] = (0.46,)) -> None:
        """Write a number or a name where it is in view and covers no other. lower: the heights to try, in rows below y."""
        size = ROOM_FOR_A_LETTER * len(words) * self.width
        since, until = (at, at + size) if side == "left" else (at - size, at)
        in_view = self.since <= since and until <= self.until
        for height in lower if in_view else ():
            taken = self.taken.setdefault(y + height, [])
            if all(until <= begin or end <= since for begin, end in taken):
                taken.append((since, until))
                self.write(words, at, y + height, side, aside)
                return

    def counter(self) -> None:
        """Draw the counter's lane, in the order in which it took the writes."""
        row = self.rows.of_counter
        if row == NEVER:
            return
        writes = sorted(self.rows.writes, key=lambda held: held.wrote_in)
        bad = {id(self.picture.held[place]) for place in self.destroyers}
        free, width = self.since - 1.0, 0.6 if self.is_crowded else 2
        for held in writes:
            colour = RED if id(held) in bad else BLUE
            meaning = "write that overwrote increments" if id(held) in bad else self.written
            self.ticks([held.wrote_in], row - 0.4, row - 0.1, colour, meaning, width)
            words = str(held.wrote if held.counter is None else held.counter)
            room = ROOM_FOR_A_LETTER * self.width * (len(words) + 0.4) / 2
            if held.wrote_in - room > free and held.wrote_in + room < self.until:
                self.write(words, held.wrote_in, row + 0.36, "center", 0, RED if id(held) in bad else "#222222")
                free = held.wrote_in + room
        for at in self.picture.gaps:
            meaning = "the counter held a number that no write in the picture had left"
            self.marks.setdefault(meaning, Line2D([], [], linestyle="none", marker="$?$", color=RED))
            self.write("?", at, row + 0.1, "right", -2, RED, bold=True)

    def waiting(self) -> None:
        """Draw how many requests of all replicas wait."""
        row, steps = self.rows.of_waiting, self.picture.waiting
        if row == NEVER:
            return
        most = max(number for _, number in steps)
        ends = [at for at, _ in steps[1:]] + [self.until]
        for (at, number), end in zip(steps, ends, strict=True):
            self.bars([(max(at, self.since), min(end, self.until))], row + 0.4, -0.75 * number / most, GREY, alpha=0.5)
        self.marks["requests that wait for the lock"] = Patch(color=GREY, alpha=0.5, linewidth=0)
        at, number = max(((at, number) for at, number in steps if at <= self.until), key=lambda step: step[1])
        late = at > self.since + 0.85 * self.width
        words = f"{number} waiting" if number else ""
        self.write(words, max(at, self.since), row + 0.3, "right" if late else "left", -4 if late else 4)

    def stops(self) -> None:
        """Shade the replicas whose process was not running, or was stopped."""
        for fault in self.picture.faults:
            end = _back(fault)
            if fault.replica == NEVER or end <= fault.at:
                continue
            top = self.rows.of_replica[fault.replica]
            later = [row for row in self.rows.names if row > top]
            bottom = min(later, default=self.rows.number)
            meaning = "the replica's process is not running" if fault.back != NEVER else "the replica's process is stopped"
            span = (max(fault.at, self.since), min(end, self.until))
            self.bars([span], top - 0.5, bottom - top, GREY, meaning, 0.3)

    def faults(self) -> None:
        row = self.rows.of_faults
        for fault in self.picture.faults:
            if not self.since <= fault.at <= self.until:
                continue
            self.axes.axvline(fault.at / 1e6, color=RED, linestyle=":", linewidth=1.4)
            self.marks.setdefault("a fault begins", Line2D([], [], color=RED, linestyle=":", linewidth=1.4))
            span = (fault.at, min(max(fault.recovered, fault.at), self.until))
            if _back(fault) == NEVER:
                self.bars([span], row - 0.3, 0.6, GREY, "the fault lasts", 0.3)
            where = f"at {self.picture.replicas[fault.replica]}" if fault.replica != NEVER else ""
            late = fault.at > self.since + 0.75 * self.width
            whom = " ".join(word for word in (fault.request, where) if word)
            words = f"{fault.kind.replace('_', ' ')}: {whom}" if fault.request else f"{fault.kind.replace('_', ' ')} {whom}"
            self.number(words, fault.at, row, "right" if late else "left", -5 if late else 5, [0.2, -0.14, 0.5])

    def loss(self) -> None:
        if self.picture.focus == NEVER:
            return
        loss = self.picture.losses[self.picture.focus]
        if loss.victim == NEVER:
            return
        culprit, victim = (self.picture.held[place] for place in (loss.culprit, loss.victim))
        overlap = (max(culprit.got, victim.got), min(culprit.until, victim.until))
        rows = [self.rows.of_replica[held.replica] + held.slot for held in (culprit, victim)]
        for row in rows:
            self.bars([overlap], row - 0.14, 0.1, RED, "both are inside at once")
        points = [(held.wrote_moment / 1e6, row + 0.06) for held, row in zip((culprit, victim), rows, strict=True)]
        arrow = {"arrowstyle": "->", "color": RED, "linewidth": 1.8, "connectionstyle": "arc3,rad=0.3"}
        self.axes.annotate("", points[1], xytext=points[0], arrowprops=arrow)
        line = Line2D([], [], color=RED, linestyle="none", marker="$→$", markersize=12)
        self.marks["from a write to the write that it overwrote"] = line

    def write(self, words: str, at: float, y: float, side: str, aside: int, colour: str = "#000000", bold: bool = False) -> None:
        if words and self.since <= at <= self.until:
            self.axes.annotate(
                words,
                (at / 1e6, y),
                xytext=(aside, 0),
                textcoords="offset points",
                ha=side,
                va="bottom",
                fontsize=9,
                color=colour,
                fontweight="bold" if bold else "normal",
            )

    def legend(self) -> None:
        figure = self.axes.figure.get_figure(root=True)
        figure.legend(list(self.marks.values()), list(self.marks), loc="outside lower left", ncols=LEGEND_COLUMNS, fontsize=9)


def _back(fault: DrawnFault) -> int:
    """Return when the stopped or killed process of a replica ran again; NEVER if the fault did neither."""
    if fault.back != NEVER:
        return fault.back
    return fault.recovered if fault.effect is Effect.PROCESS_STOPS else NEVER


def _is_stuck(life: Life, picture: Timeline) -> bool:
    """Return whether the key has no end: it was never removed, has no time to live, and its holder never released it."""
    holder = picture.held[life.holder] if life.holder != NEVER else None
    return life.gone == life.due == NEVER and (holder is None or holder.released == NEVER)


def _gone(life: Life, picture: Timeline) -> int:
    return picture.end if life.gone == NEVER else life.gone


def _lease_end(life: Life, picture: Timeline) -> int:
    """Return when the lease ended. The store may have removed the key later."""
    return life.due if life.due != NEVER and life.due < _gone(life, picture) else _gone(life, picture)
