"""Draw the first picture: for ten stages, the acknowledged and the kept increments a second, and the faults that harm each.

The speeds come from the reference ladder, the faults from the reference matrix. ``hero.svg.j2`` draws it.
The Chinese picture is the same drawing with Chinese words.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lab.language import Language
from lab.report import reference
from lab.report.chart import HARMS, Mark
from lab.report.html import path_in
from lab.report.matrix_layout import completed, marks
from lab.report.matrix_picture import write
from lab.report.statistics import Spread, mean
from lab.story.say import ENGLISH, text
from lab.text import thousands

# the last one is drawn apart: it needs no lock
RUNGS = ("none", "local", "setnx", "ttl", "uuid", "lua", "reentrant", "watchdog", "fencing", "incr")
# scenarios in the order in which the rungs answer them
FAULTS = ("one_replica", "rush", "holder_crash", "slow_holder", "release_race", "nested", "work_outlasts_ttl", "frozen_holder")


class Rung(NamedTuple):
    """A row of the picture."""

    stage: str
    # increments a second: the ones that stay in the counter, and all acknowledged ones
    stays: Spread
    acknowledged: Spread
    # the mark of each fault, in the order of FAULTS
    marks: tuple[Mark, ...]

    @property
    def is_harmed(self) -> bool:
        """Return whether any fault harms the stage."""
        return any(mark in HARMS for mark in self.marks)

    def figure(self, language: Language) -> str:
        """Return the words at the bar."""
        stays, acknowledged = self.stays.value, self.acknowledged.value
        if acknowledged - stays < 0.5:
            return thousands(stays)
        return text("hero", "of", language, stays=thousands(stays), acknowledged=thousands(acknowledged))


def rungs() -> list[Rung]:
    """Return the rows of the picture, from the reference. A fault without a cell has the mark UNTRIED."""
    known, rows = marks(completed(reference.cells())), []
    for stage in RUNGS:
        runs = reference.of_stage(stage).repeats
        speeds = mean([run.kept_per_s for run in runs]), mean([run.acknowledged / run.duration_s for run in runs])
        rows.append(Rung(stage, *speeds, tuple(known.get((fault, stage), Mark.UNTRIED) for fault in FAULTS)))
    return rows


def draw(folder: Path, language: Language = ENGLISH) -> Path:
    """Write the picture, ``hero.svg``. Names of stages are not translated. Return its path."""
    rows = rungs()
    used = {mark for row in rows for mark in row.marks}
    load = reference.of_stage(RUNGS[-1]).record.scenario
    load_figures = {name: load[name] for name in ("requests", "users", "replicas")}
    return write(
        "hero.svg.j2",
        path_in(folder / "hero.svg", language),
        language,
        title=finding(rows, language),
        conditions=text("hero", "conditions", language, min(row.stays.samples for row in rows), **load_figures),
        rows=rows,
        faults=FAULTS,
        last=RUNGS[-1],
        most=max(row.acknowledged.high for row in rows),
        shown=sorted(used),
        legend=[mark for mark in Mark if mark in used],
    )


def finding(rows: list[Rung], language: Language = ENGLISH) -> str:
    """Return the title: the one stage that no fault harms, or how many are harmed, and the share lost without a lock."""
    share = round(100 * (1 - rows[0].stays.value / rows[0].acknowledged.value))
    sound = [row.stage for row in rows if {*row.marks} == {Mark.KEPT}]
    if len(sound) == 1:
        return text("hero", "sound", language, share, stage=sound[0], all=len(FAULTS))
    return text("hero", "harmed", language, share, stages=sum(row.is_harmed for row in rows))
