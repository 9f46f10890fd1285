"""Draw a window of a run, as an SVG file or as a part of a page, and the strip of the whole run."""

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
BINS = 240  # parts of time in the strip of the whole run
LEAST_PANE = 1.2  # bins: the smallest window that is visible in the strip


class RunPen(Pen):
    """The pen of a run, with the figures that a page needs beside the drawing."""

    def __init__(self, rows: Rows, language: Language) -> None:
        super().__init__(rows, language)
        self.rows = rows
        self.height = round(TOP + rows.number * rows.each, 1)

    def share(self, at: float) -> float:
        """Return the position of a moment in the width of a picture: 0 at the left edge, 1 at the right."""
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
        numbers = "".join(written(number, x, height + 16, "soft", "center") for x, number in ticks)
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
    """Draw all lanes, and return the pen with all marks and labels."""
    rows = Rows(picture)
    pen = RunPen(rows, language)
    grants = Grants(pen, picture, rows)
    whole.draw_stops(pen, picture, rows)
    whole.draw_faults(pen, picture, rows)
    whole.draw_store(pen, picture, rows)
    whole.draw_votes(pen, picture, rows, grants)
    grants.thefts()
    grants.draw()
    whole.draw_counter(pen, picture, rows)
    whole.draw_waiting(pen, picture, rows)
    whole.draw_loss(pen, picture, rows)
    pen.place_labels()
    return pen


def still(picture: Timeline, pen: RunPen, conditions: str) -> str:
    """Return a picture with its title, the conditions of the run and a legend: one SVG without fonts and scripts.

    pen: the pen that ``compose`` returned for this picture.
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
    """Return a picture as a part of a page; the page itself has the title, the legend, ``STYLE`` and the signs. words: the title.

    The names of the lanes are drawn twice, so that on a narrow screen they stay visible while the picture is scrolled.
    """
    height = f"{pen.height + BELOW:g}"
    names = f'<svg class="names lane-ink" viewBox="0 0 {LEFT} {height}" aria-hidden="true">{pen.names()}</svg>'
    size = f'viewBox="0 0 {WIDTH} {height}"'
    return f'{names}<svg class="lanes lane-ink" {size} role="img" aria-label="{escape(words)}">\n{pen.lanes()}\n</svg>'


def overview(picture: Timeline, windows: Sequence[Timeline]) -> dict[str, Any]:
    """Return the values of a run's strip, in BINS parts of time: all writes, the writes that overwrote, faults and windows."""
    scale = BINS / max(1, picture.end)
    bad, spans = {loss.culprit for loss in picture.losses}, [window.opens for window in windows]
    writes = [(int(held.wrote_in * scale), place in bad) for place, held in enumerate(picture.held) if held.wrote_in != NEVER]
    total, over = Counter(place for place, _ in writes), Counter(place for place, is_bad in writes if is_bad)
    return {
        "bins": BINS,
        "most": max(total.values(), default=1),
        "bars": {"belief": sorted(total.items()), "both": sorted(over.items())},
        "faults": [fault.at * scale for fault in picture.faults],
        "panes": [(since * scale, max(LEAST_PANE, (until - since) * scale)) for since, until in spans],
    }
