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
from lab.report.matrix_layout import Marks, completed, marks
from lab.report.matrix_picture import write
from lab.report.run_data import Result
from lab.report.statistics import Spread, mean
from lab.story.say import ENGLISH, text
from lab.text import thousands

RUNGS = ("none", "local", "setnx", "ttl", "uuid", "lua", "reentrant", "watchdog", "fencing", "incr")
LAST = "incr"  # it stands apart: it needs no lock
# scenarios in the order in which the rungs answer them
FAULTS = (
    *("one_replica", "rush", "holder_crash", "slow_holder", "release_race", "nested", "work_outlasts_ttl", "frozen_holder"),
)


class Rung(NamedTuple):
    """A row of the picture."""

    stage: str
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

    def figure(self, language: Language) -> str:
        """Return the words at the bar."""
        stays = thousands(self.stays.value)
        if self.vanishes.value < 0.5:
            return stays
        return text("hero", "of", language, stays=stays, acknowledged=thousands(self.acknowledged.value))


def rungs() -> list[Rung]:
    """Return the rows of the picture, from the reference. A rung that no ladder has run yet is left out."""
    known = marks(completed(reference.cells()))
    return [rung(reference.of_stage(name), known) for name in RUNGS if reference.has_run(name)]


def rung(result: Result, known: Marks) -> Rung:
    """Return the row of one stage. What no cell shows is not tried."""
    stage, runs = result.judgement.stage, result.repeats
    return Rung(
        stage,
        mean([one.kept_per_s for one in runs]),
        mean([one.acknowledged_per_s - one.kept_per_s for one in runs]),
        mean([one.acknowledged_per_s for one in runs]),
        tuple(known.get((fault, stage), Mark.UNTRIED) for fault in FAULTS),
    )


def draw(folder: Path, language: Language = ENGLISH) -> Path:
    """Write the picture, ``hero.svg``. Names of stages stay. Return its path."""
    rows = rungs()
    shown = {mark for row in rows for mark in row.marks}
    return write(
        "hero.svg.j2",
        named(folder / "hero.svg", language),
        language,
        title=finding(rows, language),
        conditions=conditions(rows, language),
        rows=rows,
        faults=FAULTS,
        last=LAST,
        most=max(row.acknowledged.high for row in rows),
        shown=sorted(shown),
        legend=[mark for mark in Mark if mark in shown],
    )


def finding(rows: list[Rung], language: Language = ENGLISH) -> str:
    """Return the title: the one rung that no situation harms, or how many are harmed, and the loss without a lock."""
    first = rows[0]
    share = round(100 * first.vanishes.value / first.acknowledged.value)
    sound = [row.stage for row in rows if {*row.marks} == {Mark.KEPT}]
    if len(sound) == 1:
        return text("hero", "sound", language, share, stage=sound[0], all=len(FAULTS))
    return text("hero", "harmed", language, share, stages=sum(bool(row.harmed) for row in rows))


def conditions(rows: list[Rung], language: Language = ENGLISH) -> str:
    """Return how the bars were measured."""
    load = reference.of_stage(LAST).record.scenario
    least, most = min(row.stays.samples for row in rows), max(row.stays.samples for row in rows)
    name = "one_run" if most == 1 else "mean" if least == most else "means"
    runs = text("hero", name, language, most, least=least, most=most)
    about = {one: load[one] for one in ("requests", "users", "replicas")}
    return text("hero", "conditions", language, runs=runs, **about)
