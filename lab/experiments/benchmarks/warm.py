"""How much longer ``lab run rush --stage none`` takes than the load itself: servers up, judging, drawing, servers down."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator

from lab.experiments.benchmark import Measured, Promise, Unmeasured
from lab.experiments.statistics import mean
from lab.prerequisites import program

TIMES = 4


def measure(_pairs: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder:
        samples = [_once(folder) for _ in range(TIMES)]
    value, low, high = mean(samples)
    what, promise = "lab run rush --stage none, beyond the load itself", Promise(at_most=5.0)
    yield Measured(name="warm", what=what, unit="s", value=value, low=low, high=high, promise=promise, samples=samples)


def _once(folder: str) -> float:
    command = [program("lab"), "run", "rush", "--stage", "none", "--json"]
    began_s = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    took_s = time.monotonic() - began_s
    if done.returncode != 0:
        raise Unmeasured(f"lab run ended with {done.returncode}: {done.stderr.strip()}")
    return took_s - float(json.loads(done.stdout)["duration_s"])
