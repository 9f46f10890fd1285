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

SIGNS = {
    Mark.KEPT: "\u2713",
    Mark.OTHERWISE: "\u26a0",
    Mark.LOST: "\u2212",
    Mark.STUCK: "\u221e",
    Mark.LATE: "\u2026",
    Mark.HALF: "\u00bd",
    Mark.NOTHING: "?",
    Mark.UNTRIED: "",
    Mark.IMPOSSIBLE: "\u00b7",
}


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


BLACK, WHITE = "#111111", "#ffffff"

LIGHT = Paper(
    page=WHITE,
    text="#1c1c1c",
    soft="#565656",
    line="#e6e6e6",
    stays="#009E73",
    vanished="#D55E00",
    ground={
        Mark.KEPT: "#d9f0e7",
        Mark.OTHERWISE: "#d9f0e7",
        Mark.LOST: "#D55E00",
        Mark.STUCK: "#5B3F9B",
        Mark.LATE: "#E69F00",
        Mark.HALF: "#CC79A7",
        Mark.NOTHING: "#e9e9e6",
        Mark.UNTRIED: WHITE,
        Mark.IMPOSSIBLE: WHITE,
    },
    ink={
        Mark.KEPT: "#00654a",
        Mark.OTHERWISE: "#7a3a00",
        Mark.LOST: BLACK,
        Mark.STUCK: WHITE,
        Mark.LATE: BLACK,
        Mark.HALF: BLACK,
        Mark.NOTHING: "#565656",
        Mark.UNTRIED: "#565656",
        Mark.IMPOSSIBLE: "#8a8a8a",
    },
)

DARK = Paper(
    page="#0d1117",
    text="#ececec",
    soft="#b4b4b4",
    line="#2c333b",
    stays="#1db588",
    vanished="#f07a24",
    ground={
        Mark.KEPT: "#12382c",
        Mark.OTHERWISE: "#12382c",
        Mark.LOST: "#f07a24",
        Mark.STUCK: "#b39ae8",
        Mark.LATE: "#f0b23c",
        Mark.HALF: "#dc93bb",
        Mark.NOTHING: "#333333",
        Mark.UNTRIED: "#0d1117",
        Mark.IMPOSSIBLE: "#0d1117",
    },
    ink={
        Mark.KEPT: "#4fd0a8",
        Mark.OTHERWISE: "#ffc766",
        Mark.LOST: BLACK,
        Mark.STUCK: BLACK,
        Mark.LATE: BLACK,
        Mark.HALF: BLACK,
        Mark.NOTHING: "#b4b4b4",
        Mark.UNTRIED: "#b4b4b4",
        Mark.IMPOSSIBLE: "#7d858e",
    },
)

PAPERS = {"": LIGHT, "-dark": DARK}  # by what follows the name of the file
