"""What a cell of the matrix costs besides its load, in a worker: start servers, judge, stop servers; for each kind of store."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lab.experiments.benchmark import Measured, Promise, Unmeasured
from lab.experiments.child_run import NoVerdict, child_run, warm_runs
from lab.experiments.statistics import mean

STAGES = ("none", "lua", "redlock", "mysql_insert", "etcd", "zookeeper")  # one of each store
REQUESTS = 100


def measure(pairs: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder, warm_runs():
        for stage in STAGES:
            _once(folder, stage)  # imports, and starts the servers that stay up
            samples = [_once(folder, stage) for _ in range(max(4, pairs))]
            value, low, high = mean(samples)
            what, promise = f"a cell of {stage} in a worker, beyond its load", Promise(at_most=0.8)
            yield Measured(
                name=f"cells {stage}", what=what, unit="s", value=value, low=low, high=high, promise=promise, samples=samples
            )


def _once(folder: str, stage: str) -> float:
    began_s = time.monotonic()
    try:
        judgement = child_run(["rush", "--stage", stage, "--requests", str(REQUESTS), "--no-draw"], Path(folder), stage)
    except NoVerdict as failure:
        raise Unmeasured(str(failure)) from None
    return time.monotonic() - began_s - judgement.duration_s
