"""What the first picture shows: of ten rungs, what stays of what was acknowledged a second, and which fault harms which rung.

The speeds come from the reference ladder, the faults from the reference matrix. ``lab/report/hero_picture.py`` draws it.
"""

from __future__ import annotations

from typing import NamedTuple

from lab.report import reference
from lab.report.matrix_marks import Marks, marks
from lab.report.palette import HARMS, Mark
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
FAULTS = {  # scenarios in the order in which the rungs answer them, each with two short lines
    "one_replica": "one\nreplica",
    "rush": "three\nreplicas",
    "holder_crash": "holder\ndies",
    "slow_holder": "late\nrelease",
    "release_race": "release\nrace",
    "nested": "asks\ntwice",
    "work_outlasts_ttl": "slow\nwork",
    "frozen_holder": "holder\nfrozen",
}


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
