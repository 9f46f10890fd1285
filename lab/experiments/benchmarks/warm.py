"""How much longer ``lab run rush --stage none`` takes than its load: start servers, judge, draw, stop servers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lab.experiments.benchmark import Measured, Promise, Unmeasured
from lab.experiments.child_run import NoVerdict, child_run
from lab.experiments.statistics import mean

TIMES = 4


def measure(_pairs: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder:
        samples = [_once(folder) for _ in range(TIMES)]
    value, low, high = mean(samples)
    what, promise = "lab run rush --stage none, beyond the load itself", Promise(at_most=5.0)
    yield Measured(name="warm", what=what, unit="s", value=value, low=low, high=high, promise=promise, samples=samples)


def _once(folder: str) -> float:
    began_s = time.monotonic()
    try:
        judgement = child_run(["rush", "--stage", "none"], Path(folder))
    except NoVerdict as failure:
        raise Unmeasured(str(failure)) from None
    return time.monotonic() - began_s - judgement.duration_s
