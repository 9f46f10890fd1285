"""A command of the lab, in a process of its own: its time, the processor time of all its processes, the memory of the largest."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time

from lab.errors import ExitStatus, NothingShown
from lab.experiments.meter import Meter
from lab.experiments.result import Point
from lab.prerequisites import program
from lab.scenario.stages import find_stage


class CommandMeter(Meter):
    """Runs the command of the experiment."""

    def conditions(self, stage: str, value: str) -> str:
        find_stage(stage)
        return f"lab {' '.join(self.experiment.command).format(stage='STAGE', value=value)}"

    def point(self, stage: str, value: str, repeat: int) -> Point:
        words = [program("lab"), *(word.format(stage=stage, value=value) for word in self.experiment.command)]
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="lab-command-") as folder, tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said)
            try:
                _, waited, usage = os.wait4(process.pid, 0)
            except BaseException:
                process.terminate()  # an interrupt ends the command as well
                process.wait()
                raise
            process.returncode = os.waitstatus_to_exitcode(waited)
            said.seek(0)
            if process.returncode not in (ExitStatus.GOOD, ExitStatus.BROKEN):
                raise NothingShown(f"{' '.join(words[1:])} ended with {process.returncode}: {said.read().strip()[-300:]}")
        figures = {"wall_s": time.monotonic() - began_s, "cpu_s": usage.ru_utime + usage.ru_stime}
        return Point(stage=stage, value=value, repeat=repeat, figures=figures | {"most_mib": usage.ru_maxrss / 1024})


METER = CommandMeter
