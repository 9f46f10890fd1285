"""A window of a run, drawn as a still picture: one SVG of its own, or a part of a page. And the strip of the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from lab.language import Language
from lab.report.lanes import whole
from lab.report.lanes.grants import Grants
from lab.report.lanes.pen import EDGE, WIDTH, Pen, headed, legend, written
from lab.report.lanes.pen import picture as drawn
from lab.report.lanes.rows import LEFT, ROOM, TOP, Rows
from lab.story import say_run
from lab.story.say import ENGLISH
from lab.story.timeline import NEVER, Timeline
from lab.text import thousands

BELOW = 22  # px, for the numbers of the axis
BINS = 240  # of the overview
LEAST_PANE = 1.2  # bins: a shorter window would not be seen in it


class RunPen(Pen):
    """The pen of a run, with what a page states beside the drawing."""

    def __init__(self, rows: Rows, language: Language) -> None:
        super().__init__(rows, language)
        self.rows = rows
        self.height = round(TOP + rows.number * rows.each, 1)

    def share(self, at: float) -> float:
        """Return where a moment is in a picture: 0 at its left edge, 1 at the right."""
        return round((LEFT + self.at(at, 0)[0]) / WIDTH, 3)

    def names(self) -> str:
        """Return the names of the lanes."""
        heights = ((lane.name, self.at(0, lane.middle)[1] + 4) for lane in self.rows.lanes)
        return "".join(written(self.lane(name), EDGE, y, "lane") for name, y in heights)

    def lanes(self) -> str:
        """Return the lanes with their names and the axis below."""
        rows, height = self.rows, self.height
        edges = "".join(f"M{EDGE} {self.at(0, lane.bottom)[1]:g}H{WIDTH - EDGE}" for lane in rows.lanes)
        ticks = [(LEFT + self.at(at, 0)[0], f"{at / 1e6:g}") for at in rows.ticks()]
        lines = "".join(f"M{x:g} 0V{height:g}" for x, _ in ticks)
        numbers = "".join(written(said, x, height + 16, "soft", "center") for x, said in ticks)
        return "\n".join(
            [
                f'{self.names()}<path class="edge" d="{edges}"/><path class="grid" d="{lines}"/>{numbers}',
                f'<svg class="plot{" crowded" * rows.is_crowded}" x="{LEFT}" width="{ROOM}" height="{height:g}">',
                f'{self.shapes()}<g class="words">',
                *self.words,
                "</g></svg>",
            ]
        )


def compose(picture: Timeline, language: Language = ENGLISH) -> RunPen:
    """Draw all lanes and return the pen, which knows all marks and labels."""
    rows = Rows(picture)
    pen = RunPen(rows, language)
    grants = Grants(pen, picture, rows)
    whole.draw_stops(pen, picture, rows)
    whole.draw_faults(pen, picture, rows)
    whole.draw_store(pen, picture, rows)
    whole.draw_votes(pen, picture, rows, grants)
    grants.messages()
    grants.draw()
    whole.draw_counter(pen, picture, rows)
    whole.draw_waiting(pen, picture, rows)
    whole.draw_loss(pen, picture, rows)
    pen.place_labels()
    return pen


def still(picture: Timeline, pen: RunPen, conditions: str) -> str:
    """Return a picture with its title, the conditions of the run and a legend: one SVG without fonts and scripts.

    pen: what ``compose`` returned for the picture.
    """
    title = say_run.title(picture, pen.language)
    number = len(pen.rows.visible)
    in_view = pen.say("in_view", shown=thousands(number), all=thousands(picture.grants)) if number < picture.grants else ""
    parts, head = headed(title, conditions + in_view)
    bottom = head + pen.height + BELOW
    explained, height = legend(pen.explained, bottom + 28)
    lanes = [f'<g transform="translate(0 {head})">', pen.lanes(), "</g>", written(pen.say("axis"), LEFT, bottom + 12, "soft")]
    return drawn(title, [*parts, *lanes, *explained], height)


def for_page(pen: RunPen, words: str) -> str:
    """Return a picture as a part of a page, which has its title, its legend, ``STYLE`` and the signs. words: its title.

    The names of the lanes are there twice: on a narrow screen they stay in sight while the picture is scrolled.
    """
    height = f"{pen.height + BELOW:g}"
    names = f'<svg class="names lane-ink" viewBox="0 0 {LEFT} {height}" aria-hidden="true">{pen.names()}</svg>'
    size = f'viewBox="0 0 {WIDTH} {height}"'
    return f'{names}<svg class="lanes lane-ink" {size} role="img" aria-label="{escape(words)}">\n{pen.lanes()}\n</svg>'


def overview(picture: Timeline, windows: Sequence[Timeline]) -> dict[str, Any]:
    """Return what the strip of a run has, in BINS parts of time: its writes, those that overwrote, its faults and windows."""
    each = BINS / max(1, picture.end)
    bad = {loss.culprit for loss in picture.losses}
    writes = [(int(held.wrote_in * each), place in bad) for place, held in enumerate(picture.held) if held.wrote_in != NEVER]
    total, over = Counter(place for place, _ in writes), Counter(place for place, is_bad in writes if is_bad)
    return {
        "bins": BINS,
        "most": max(total.values(), default=1),
        "bars": {"belief": sorted(total.items()), "both": sorted(over.items())},
        "faults": [fault.at * each for fault in picture.faults],
        "panes": [(since * each, max(LEAST_PANE, (until - since) * each)) for since, until in (one.opens for one in windows)],
    }
