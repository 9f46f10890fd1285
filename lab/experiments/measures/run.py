"""Measure a run of the lab: its verdict, the time to judge it, and the size of its folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from lab.errors import CannotWrite, NotReady
from lab.experiments.measures import Meter
from lab.experiments.result import Point
from lab.judge.judgement import Judgement
from lab.judge.verdict import judge
from lab.language import Language
from lab.pipeline import finish, make_run
from lab.report.chart import CONDITIONS
from lab.report.run_data import load_in_words
from lab.scenario.stages import find_stage
from lab.story import say
from lab.story.verdict import why

MIB = 2**20
OF_RUN: dict[str, Callable[[Judgement], float]] = {
    "kept_per_s": lambda one: one.kept_per_s,
    "wait_p50_ms": lambda one: one.wait_ms["p50"],
    "wait_p99_ms": lambda one: one.wait_ms["p99"],
    "wait_max_ms": lambda one: one.wait_ms["max"],
    "commands_per_increment": lambda one: one.commands_per_increment,
    "processor_ms_per_increment": lambda one: one.processor_ms_per_increment or 0.0,
    "lost_share": lambda one: max(0, one.lost) / one.acknowledged,
    "acknowledged": lambda one: one.acknowledged,
}


class RunMeter(Meter):
    """Runs a scenario and judges it."""

    def conditions(self, stage: str, value: str, language: Language) -> str:
        scenario = self.experiment.fitted(find_stage(stage), value, self.given)
        fixed = [name for name in CONDITIONS if name != self.experiment.vary]
        found = load_in_words(vars(scenario), fixed, language)
        return say.words(language)["mark"]["comma"].join([scenario.name, found])

    def measure(self, point: Point) -> None:
        found, point.verdict = find_stage(point.stage), "VOID"
        given = {**self.given, "seed": self.given.get("seed", 1) + point.repeat - 1}
        scenario = self.experiment.fitted(found, point.value, given)
        try:
            done = make_run(found, scenario, self.command)
        except NotReady as failure:
            point.reason = f"the run could not start: {failure}"
            return
        finish(done, draw=False)
        if done.record.ended.is_interrupt:  # a part of a run is no point
            raise KeyboardInterrupt
        if done.unwritten:
            raise CannotWrite(f"the experiment ends here: {done.unwritten}")
        point.verdict, point.reason, point.run = done.judgement.verdict, why(done.judgement), done.judgement.run
        if done.judgement.acknowledged:
            known = _figures(done.judgement, done.folder.path)
            known["over_ttl_ms"] = known["wait_max_ms"] - (scenario.ttl_ms or 0)
            point.figures = {name: known[name] for name in self.experiment.figures}


def _figures(judgement: Judgement, folder: Path) -> dict[str, float]:
    began_s = time.monotonic()
    judge(folder)
    judged_s = time.monotonic() - began_s
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {name: float(figure(judgement)) for name, figure in OF_RUN.items()} | {"judged_s": judged_s, "folder_mib": size / MIB}


METER = RunMeter
