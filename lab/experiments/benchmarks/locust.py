"""Locust through the whole stack, with every request recorded, as a share of what wrk achieves at the same stack."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from app.locks import stages
from lab.evidence.history import History
from lab.experiments.benchmark import Measured, Promise, Unmeasured, pairwise, ratio, wrk
from lab.load.locust import Load
from lab.prerequisites import program
from lab.scenario import scenario
from lab.servers.cluster import Cluster, cluster
from lab.servers.supervisor import Supervisor

WRK_S, REQUESTS = 3, 5000


def measure(pairs: int) -> Iterator[Measured]:
    program("wrk")  # report a missing program before anything is started
    rush = scenario.load("rush")
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        folder = Path(name)
        try:
            with cluster(supervisor, stages()["none"], rush, "bench", folder) as system:
                wrk(system.address, folder, 1)  # warm
                by_locust, by_wrk = _driver(supervisor, rush, system, folder), lambda: wrk(system.address, folder, WRK_S)
                rates = list(pairwise(pairs, by_locust, by_wrk))
        finally:
            supervisor.close()
    ratios = [one / other for one, other in rates]
    what = f"Locust's throughput as a share of wrk's, {pairs} pairs"
    remark = f"wrk reached {sum(other for _, other in rates) / pairs:.0f} increments a second here"
    yield ratio("locust", what, Promise(at_least=0.75), ratios, remark)


def _driver(supervisor: Supervisor, rush: scenario.Scenario, system: Cluster, folder: Path) -> Callable[[], float]:
    numbers = count()

    def drive() -> float:
        """One run of REQUESTS; its rate from the first start to the last end, as runs are measured."""
        into = folder / f"load-{next(numbers)}"
        into.mkdir()
        load = Load(supervisor, rush, system.address, into)
        load.wait(lambda done: None, lambda: True)
        records = list(History(into).requests())
        if len(records) != REQUESTS:
            raise Unmeasured(f"{len(records)} requests were recorded instead of {REQUESTS}")
        return len(records) / ((max(one.end_ns for one in records) - min(one.start_ns for one in records)) / 1e9)

    return drive
