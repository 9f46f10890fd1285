"""One colour a meaning: what happened to an increment, and what a fault does to a stage.

Charts, pages and pictures take these colours for these meanings, and lines take others. The colours are safe for the
colour-blind (Okabe and Ito's palette). A colour only supports a word: each meaning also has a sign.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Mark(StrEnum):
    """What a scenario showed of a stage, in one word."""

    KEPT = "kept"
    # the tested promise held, and increments were lost by another cause
    OTHERWISE = "kept, but lost otherwise"
    # acknowledged and gone, or counted twice
    LOST = "lost"
    # nobody gets in, or requests are refused
    STUCK = "stuck"
    # overtaken, or idle while a request waits
    LATE = "late"
    # half of the work is done
    HALF = "half"
    # the run proves nothing
    NOTHING = "proves nothing"
    # the scenario fits the stage, and was not run
    UNTRIED = "not tried"
    # the scenario makes no sense for the stage
    IMPOSSIBLE = "does not fit"


HARMS = (Mark.LOST, Mark.STUCK, Mark.LATE, Mark.HALF)
HELD = (Mark.KEPT, Mark.OTHERWISE)
NAMES = {one: one.name.lower() for one in Mark}  # the marks in the classes and ids of pages and pictures


class Paper(NamedTuple):
    """The colours of a picture on light or on dark paper."""

    page: str
    text: str
    soft: str
    line: str
    # increments that stay, and increments that were acknowledged and vanished
    stays: str
    vanished: str
    # the ground of each mark
    ground: dict[Mark, str]
    # the letters on it
    ink: dict[Mark, str]


BLACK, WHITE, NIGHT = "#111111", "#ffffff", "#0d1117"
# of each mark its sign; and on light and then on dark paper the ground and the letters on it
LOOKS = {
    Mark.KEPT: ("\u2713", ("#d9f0e7", "#00654a"), ("#12382c", "#4fd0a8")),
    Mark.OTHERWISE: ("\u26a0", ("#d9f0e7", "#7a3a00"), ("#12382c", "#ffc766")),
    Mark.LOST: ("\u2212", ("#D55E00", BLACK), ("#f07a24", BLACK)),
    Mark.STUCK: ("\u221e", ("#5B3F9B", WHITE), ("#b39ae8", BLACK)),
    Mark.LATE: ("\u2026", ("#E69F00", BLACK), ("#f0b23c", BLACK)),
    Mark.HALF: ("\u00bd", ("#CC79A7", BLACK), ("#dc93bb", BLACK)),
    Mark.NOTHING: ("?", ("#e9e9e6", "#565656"), ("#333333", "#b4b4b4")),
    Mark.UNTRIED: ("", (WHITE, "#565656"), (NIGHT, "#b4b4b4")),
    Mark.IMPOSSIBLE: ("\u00b7", (WHITE, "#8a8a8a"), (NIGHT, "#7d858e")),
}
SIGNS = {mark: sign for mark, (sign, _, _) in LOOKS.items()}
LIGHT = Paper(
    page=WHITE,
    text="#1c1c1c",
    soft="#565656",
    line="#e6e6e6",
    stays="#009E73",
    vanished="#D55E00",
    ground={mark: ground for mark, (_, (ground, _), _) in LOOKS.items()},
    ink={mark: ink for mark, (_, (_, ink), _) in LOOKS.items()},
)
DARK = Paper(
    page=NIGHT,
    text="#ececec",
    soft="#b4b4b4",
    line="#2c333b",
    stays="#1db588",
    vanished="#f07a24",
    ground={mark: ground for mark, (_, _, (ground, _)) in LOOKS.items()},
    ink={mark: ink for mark, (_, _, (_, ink)) in LOOKS.items()},
)
PAPERS = {"": LIGHT, "-dark": DARK}  # by what follows the name of the file
