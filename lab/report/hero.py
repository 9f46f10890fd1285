"""The first picture: of ten rungs, what stays of what was acknowledged a second, and which fault harms which rung.

The speeds come from the reference ladder, the faults from the reference matrix. ``hero.svg.j2`` draws it.
The Chinese one is the same drawing with other words.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lab.language import Language
from lab.report import reference
from lab.report.chart import HARMS, Mark
from lab.report.html import named
from lab.report.matrix_layout import completed, marks
from lab.report.matrix_picture import write
from lab.report.statistics import Spread, mean
from lab.story.say import ENGLISH, text
from lab.text import thousands

RUNGS = (
    "none",
    "local",
    "setnx",
    "ttl",
    "uuid",
    "lua",
    "reentrant",
    "watchdog",
    "fencing",
    "incr",
)  # the last stands apart: it needs no lock
# scenarios in the order in which the rungs answer them
FAULTS = "one_replica", "rush", "holder_crash", "slow_holder", "release_race", "nested", "work_outlasts_ttl", "frozen_holder"


class Rung(NamedTuple):
    """A row of the picture."""

    stage: str
    # increments a second: those that stay in the counter, and all that were acknowledged
    stays: Spread
    acknowledged: Spread
    # what each fault does, in the order of FAULTS
    marks: tuple[Mark, ...]

    @property
    def is_harmed(self) -> bool:
        """Return whether a fault does harm."""
        return any(mark in HARMS for mark in self.marks)

    def figure(self, language: Language) -> str:
        """Return the words at the bar."""
        stays, acknowledged = self.stays.value, self.acknowledged.value
        if acknowledged - stays < 0.5:
            return thousands(stays)
        return text("hero", "of", language, stays=thousands(stays), acknowledged=thousands(acknowledged))


def rungs() -> list[Rung]:
    """Return the rows of the picture, from the reference. A fault that no cell shows is not tried."""
    known, found = marks(completed(reference.cells())), []
    for stage in RUNGS:
        runs = reference.of_stage(stage).repeats
        speeds = mean([one.kept_per_s for one in runs]), mean([one.acknowledged_per_s for one in runs])
        found.append(Rung(stage, *speeds, tuple(known.get((fault, stage), Mark.UNTRIED) for fault in FAULTS)))
    return found


def draw(folder: Path, language: Language = ENGLISH) -> Path:
    """Write the picture, ``hero.svg``. Names of stages stay. Return its path."""
    rows = rungs()
    shown = {mark for row in rows for mark in row.marks}
    load = reference.of_stage(RUNGS[-1]).record.scenario
    about = {one: load[one] for one in ("requests", "users", "replicas")}
    return write(
        "hero.svg.j2",
        named(folder / "hero.svg", language),
        language,
        title=finding(rows, language),
        conditions=text("hero", "conditions", language, min(row.stays.samples for row in rows), **about),
        rows=rows,
        faults=FAULTS,
        last=RUNGS[-1],
        most=max(row.acknowledged.high for row in rows),
        shown=sorted(shown),
        legend=[mark for mark in Mark if mark in shown],
    )


def finding(rows: list[Rung], language: Language = ENGLISH) -> str:
    """Return the title: the one rung that no situation harms, or how many are harmed, and the loss without a lock."""
    share = round(100 * (1 - rows[0].stays.value / rows[0].acknowledged.value))
    sound = [row.stage for row in rows if {*row.marks} == {Mark.KEPT}]
    if len(sound) == 1:
        return text("hero", "sound", language, share, stage=sound[0], all=len(FAULTS))
    return text("hero", "harmed", language, share, stages=sum(row.is_harmed for row in rows))
