"""The first picture: of ten rungs, what stays of what was acknowledged a second, and which fault harms which rung.

The speeds come from the reference ladder, the faults from the reference matrix. ``hero.svg.j2`` draws it, 850 px wide, so that a
letter has the size at which GitHub shows it. The Chinese one is the same drawing with other words.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lab.language.phrases import in_chinese
from lab.report import reference
from lab.report.matrix_layout import Marks, marks
from lab.report.matrix_picture import legend, write
from lab.report.palette import HARMS, PAPERS, Mark
from lab.report.repeats import Spread, spread
from lab.report.run_data import Result
from lab.text import counted, thousands

RUNGS = {
    "none": "no lock",
    "local": "a mutex in the process",
    "setnx": "one key in Redis",
    "ttl": "the key expires",
    "uuid": "the key knows its holder",
    "lua": "check and delete in one step",
    "reentrant": "the holder may enter again",
    "watchdog": "renewed while it works",
    "fencing": "the counter refuses late writes",
    "incr": "one Redis command, no lock",
}
LAST = "incr"  # it stands apart: it needs no lock
FAULTS = {  # scenarios in the order in which the rungs answer them, each with a word a line
    "one_replica": "one replica",
    "rush": "three replicas",
    "holder_crash": "holder dies",
    "slow_holder": "late release",
    "release_race": "release race",
    "nested": "asks twice",
    "work_outlasts_ttl": "slow work",
    "frozen_holder": "holder frozen",
}
STEM, CHINESE = "hero", "hero-zh"
WIDTH, LEFT = 850, 14  # px: the picture, and its margin
ROW, GAP, TOP, BELOW = 45, 12, 128, 48  # px: the height of a row, the space before the last, above the rows, and below them
BARS, CELLS, CELL = 206, 456, 48  # px: where the bars and the cells begin, and the width of a cell
LONGEST, LETTER = 140, 12  # px: of a bar, and of a letter
CHINESE_FONTS = (  # of macOS, Windows, and Linux; letters and figures stay those of the English picture
    "'DejaVu Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Source Han Sans SC', 'WenQuanYi Micro Hei', sans-serif"
)


class Rung(NamedTuple):
    """A row of the picture."""

    stage: str
    words: str
    # increments a second: those that stay in the counter, those that were acknowledged and vanished, and both
    stays: Spread
    vanishes: Spread
    acknowledged: Spread
    # what each fault does, in the order of FAULTS
    marks: tuple[Mark, ...]

    @property
    def harmed(self) -> list[str]:
        """Return the faults that do harm."""
        return [fault for fault, mark in zip(FAULTS, self.marks, strict=True) if mark in HARMS]

    @property
    def figure(self) -> str:
        """Return the words at the bar."""
        if self.vanishes.value < 0.5:
            return thousands(self.stays.value)
        return f"{thousands(self.stays.value)} of {thousands(self.acknowledged.value)}"


def rungs() -> list[Rung]:
    """Return the rows of the picture, from the reference. A rung that no ladder has run yet is left out."""
    known = marks(reference.cells())
    return [rung(reference.of_stage(name), known) for name in RUNGS if reference.has_run(name)]


def rung(result: Result, known: Marks) -> Rung:
    """Return the row of one stage. What no cell shows is not tried."""
    stage, runs = result.judgement.stage, result.repeats
    return Rung(
        stage,
        RUNGS[stage],
        spread([one.kept_per_s for one in runs]),
        spread([one.acknowledged_per_s - one.kept_per_s for one in runs]),
        spread([one.acknowledged_per_s for one in runs]),
        tuple(known.get((fault, stage), Mark.UNTRIED) for fault in FAULTS),
    )


def draw(folder: Path, name: str) -> Path:
    """Write the picture on one paper: its file's name ends with ``name``. Return its path."""
    return write_picture(rungs(), folder / f"{STEM}{name}.svg", name)


def draw_in_chinese(folder: Path, name: str) -> Path:
    """Write the picture with Chinese words, and with fonts that have them. Names of stages stay. Return its path."""
    about = {"language": "zh-CN", "fonts": CHINESE_FONTS}
    return write_picture(rungs(), folder / f"{CHINESE}{name}.svg", name, say=partial(in_chinese, "hero"), **about)


def write_picture(rows: list[Rung], path: Path, name: str, **about: Any) -> Path:
    """Write the picture of these rows. Return its path. about: the language of its words."""
    end = TOP + ROW * len(rows) + GAP
    return write(
        "hero.svg.j2",
        path,
        PAPERS[name],
        title=finding(rows),
        conditions=conditions(rows),
        rows=rows,
        faults=FAULTS,
        last=LAST,
        scale=LONGEST / max(max(row.acknowledged.value, row.acknowledged.high) for row in rows),
        width=WIDTH,
        height=end + BELOW,
        left=LEFT,
        top=TOP,
        row=ROW,
        gap=GAP,
        bars=BARS,
        cells=CELLS,
        cell=CELL,
        legend=legend((mark for row in rows for mark in row.marks), (LEFT, end + 26, WIDTH - LEFT), LETTER),
        legend_size=LETTER,
        **about,
    )


def staircase(rows: list[Rung]) -> bool:
    """Return whether each rung's first harm is not left of the harm of the rung before, and the last rung has none."""
    steps = [min(map(list(FAULTS).index, row.harmed), default=len(FAULTS)) for row in rows if row.stage != LAST]
    return steps == sorted(steps) and steps[-1] == len(FAULTS)


def finding(rows: list[Rung]) -> str:
    """Return the title: what each rung cures, and what is left of the speed without a lock."""
    first = rows[0]
    share = first.vanishes.value / first.acknowledged.value
    steps = "Each stage mends the one before" if staircase(rows) else f"The faults harm {harmed(rows)} stages"
    return f"{steps}. Without a lock, {100 * share:.0f}\u2009% of increments are lost."


def conditions(rows: list[Rung]) -> str:
    """Return how the bars were measured."""
    load = reference.of_stage(LAST).record.scenario
    least, most = min(row.stays.runs for row in rows), max(row.stays.runs for row in rows)
    runs = "one run each" if most == 1 else f"the mean of {counted(most, 'run')} in turn, with its 95 % interval"
    if least != most:
        runs = f"the mean of {least} to {most} runs in turn, with its 95 % interval"
    return f"{load['requests']} increments by {load['users']} users over {load['replicas']} replicas; {runs}."


def harmed(rows: list[Rung]) -> int:
    """Return how many rungs some fault harms."""
    return sum(bool(row.harmed) for row in rows)
