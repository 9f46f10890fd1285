"""The timeline of one run as a still picture: the opening view of its page, for print and for readers without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from lab.report.chart import BLUE, GREEN, GREY, RED, amount, conditions, title
from lab.report.run_data import Result
from lab.report.timeline_model import NEVER, DrawnGrant, Life, Timeline, load
from lab.text import thousands

FOR = "one"
BELIEF, ALONE = "#a9d3ee", "#f2bd4d"  # as on the page
MOST_LABELS = 24
ROOM_FOR_BOTH = 0.07  # of the width, between a read and its write, to label both
Spans = list[tuple[float, float]]


def fits(results: Sequence[Result]) -> bool:
    """Return whether a lock was granted, and whether the folder has a timeline."""
    return all((picture := load(result.folder / "timeline.json")) is not None and picture.held for result in results)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    picture = load(result.folder / "timeline.json")
    if picture is None:
        return
    still = _Still(axes, picture)
    still.lanes()
    still.store()
    for place, held in still.visible():
        still.held(place, held)
    still.faults()
    still.loss()
    axes.set_xlim(picture.opens[0] / 1e6, picture.opens[1] / 1e6)
    axes.set_ylim(still.bottom - 0.4, -1 if picture.asked_store or picture.faults else 0.4)
    axes.set_xlabel("seconds since the first request")
    axes.grid(visible=False, axis="y")
    title(axes, _finding(result, picture), conditions(results))


def _finding(result: Result, picture: Timeline) -> str:
    stage = result.judgement.stage
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        culprit, mechanism = picture.held[loss.culprit].request, picture.mechanisms[loss.mechanism]
        return f"{stage}: a stale write by {culprit} destroyed {amount(loss.destroyed, 'increment')} ({mechanism})"
    if picture.focus_fault != NEVER:
        fault = picture.faults[picture.focus_fault]
        kind = fault.kind.replace("_", " ")
        if fault.next_got == NEVER:
            return f"{stage}: no other request got the lock after the fault “{kind}”"
        return f"{stage}: {fault.next_request} got the lock {_ms(fault.next_got - fault.at)} after the fault “{kind}”"
    since, until = picture.opens
    grants = sum(since <= held.got <= until for held in picture.held)
    lost = max(0, result.judgement.lost)
    losses = (
        f"{amount(lost, 'increment')} of the run {'is' if lost == 1 else 'are'} lost" if lost else "the run lost no increment"
    )
    return f"{stage}: {amount(grants, 'grant')} in {_ms(until - since)}; {losses}"


def _ms(us: int) -> str:
    return f"{thousands(us / 1000)} ms" if us >= 10_000 else f"{us / 1000:.1f} ms"


class _Still:
    """The picture's layout: each slot of each lane is a row of the axes."""

    def __init__(self, axes: Axes, picture: Timeline) -> None:
        self.axes, self.picture = axes, picture
        self.since, self.until = picture.opens
        self.row: dict[int, int] = {}
        self.bottom = 1
        for place in range(len(picture.replicas)):
            self.row[place] = self.bottom
            self.bottom += 1 + max((held.slot for _, held in self.visible() if held.replica == place), default=0)
        self.labelled = sum(1 for _ in self.visible()) <= MOST_LABELS

    def visible(self) -> Iterable[tuple[int, DrawnGrant]]:
        return (
            (place, held) for place, held in enumerate(self.picture.held) if held.got <= self.until and held.until >= self.since
        )

    def lanes(self) -> None:
        names = dict(zip((self.row[place] - 0.2 for place in self.row), self.picture.replicas, strict=True))
        if self.picture.asked_store:
            names[-0.1] = "the lock's store"
        self.axes.set_yticks(list(names), list(names.values()))
        for place in self.row:
            self.axes.axhline(self.row[place] - 0.5, color="#dddddd", linewidth=0.8)

    def bars(self, spans: Spans, y: float, height: float, colour: str, alpha: float = 1.0) -> None:
        seconds = [(since / 1e6, (until - since) / 1e6) for since, until in spans]
        self.axes.broken_barh(seconds, (y, height), color=colour, alpha=alpha, linewidth=0)

    def store(self) -> None:
        lives = [life for life in self.picture.lives if life.born <= self.until and _gone(life, self.picture) >= self.since]
        self.bars([(life.born, _lease_end(life, self.picture)) for life in lives], -0.3, 0.4, GREEN)
        self.bars([(_lease_end(life, self.picture), _gone(life, self.picture)) for life in lives], -0.3, 0.4, GREEN, 0.35)

    def held(self, place: int, held: DrawnGrant) -> None:
        y = self.row[held.replica] + held.slot
        self.bars([(held.got, held.until)], y - 0.42, 0.36, BELIEF)
        if held.lease != NEVER:
            end = _lease_end(self.picture.lives[held.lease], self.picture)
            self.bars([(self.picture.lives[held.lease].born, end)], y - 0.03, 0.08, GREEN)
            if end < held.until:
                self.bars([(max(end, held.got), held.until)], y - 0.42, 0.36, ALONE)
        self.effects(held, y)

    def effects(self, held: DrawnGrant, y: float) -> None:
        if held.read_at != NEVER:
            self.axes.vlines(held.read_at / 1e6, y - 0.42, y + 0.4, color="#222222", linewidth=1)
        if held.wrote_at != NEVER:
            self.axes.vlines(held.wrote_at / 1e6, y - 0.42, y + 0.4, color=BLUE, linewidth=2)
        if not self.labelled:
            return
        self.write(held.request, max(held.got, self.since), y - 0.1, "left", 3)
        cramped = held.wrote_at != NEVER and held.wrote_at - held.read_at < ROOM_FOR_BOTH * (self.until - self.since)
        if held.read is not None and not cramped:
            self.write(f"r={held.read}", held.read_at, y + 0.42, "left", 3)
        if held.wrote is not None:
            side, aside = ("left", 3) if cramped else ("right", -3)
            self.write(f"w={held.wrote}", held.wrote_at, y + 0.42, side, aside)

    def write(self, words: str, at: float, y: float, side: str, aside: int) -> None:
        if self.since <= at <= self.until:
            self.axes.annotate(
                words, (at / 1e6, y), xytext=(aside, 0), textcoords="offset points", ha=side, va="bottom", fontsize=9
            )

    def faults(self) -> None:
        for fault in self.picture.faults:
            if not self.since <= fault.at <= self.until:
                continue
            end = fault.back if fault.back != NEVER else fault.recovered
            self.axes.axvspan(fault.at / 1e6, min(end, self.until) / 1e6, color=GREY, alpha=0.2, linewidth=0)
            self.axes.axvline(fault.at / 1e6, color=RED, linestyle=":", linewidth=1.4)
            self.write(f"{fault.kind.replace('_', ' ')}: {fault.request}", fault.at, -0.6, "left", 5)

    def loss(self) -> None:
        if self.picture.focus == NEVER:
            return
        loss = self.picture.losses[self.picture.focus]
        if loss.victim == NEVER:
            return
        culprit, victim = (self.picture.held[place] for place in (loss.culprit, loss.victim))
        overlap = (max(culprit.got, victim.got), min(culprit.until, victim.until))
        points = [(held.wrote_at / 1e6, self.row[held.replica] + held.slot - 0.42) for held in (culprit, victim)]
        for held in (culprit, victim):
            if overlap[0] < overlap[1]:
                self.bars([overlap], self.row[held.replica] + held.slot - 0.16, 0.1, RED)
        arrow = {"arrowstyle": "->", "color": RED, "linewidth": 1.8, "connectionstyle": "arc3,rad=0.3"}
        self.axes.annotate("", points[1], xytext=points[0], arrowprops=arrow)


def _gone(life: Life, picture: Timeline) -> int:
    return picture.end if life.gone == NEVER else life.gone


def _lease_end(life: Life, picture: Timeline) -> int:
    """Return when the lease ended. The store may have removed the key later."""
    return life.due if life.due != NEVER and life.due < _gone(life, picture) else _gone(life, picture)
