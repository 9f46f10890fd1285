"""A command of the lab, in a process of its own: its time, and the processor time of all its processes."""

from __future__ import annotations

import resource
import subprocess
import tempfile
import time

from lab.errors import ExitStatus, NothingShown
from lab.experiments.measures import Meter
from lab.experiments.result import Point
from lab.language import Language
from lab.prerequisites import program
from lab.scenario.stages import find_stage


class CommandMeter(Meter):
    """Runs the command of the experiment."""

    def conditions(self, stage: str, value: str, language: Language) -> str:
        find_stage(stage)
        return f"lab {' '.join(self.experiment.command).format(stage='STAGE', value=value)}"

    def measure(self, point: Point) -> None:
        words = [word.format(stage=point.stage, value=point.value) for word in self.experiment.command]
        began_s, before_s = time.monotonic(), _children_s()
        with tempfile.TemporaryDirectory(prefix="lab-command-") as folder:
            done = subprocess.run([program("lab"), *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in (ExitStatus.GOOD, ExitStatus.BROKEN):
            raise NothingShown(f"lab {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        point.figures = {"wall_s": time.monotonic() - began_s, "cpu_s": _children_s() - before_s}


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


METER = CommandMeter
