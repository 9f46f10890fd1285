"""The cost of journals and of failpoints without a fault: two stacks, with and without them, driven
in turn by wrk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.locks import stages
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, wrk
from lab.prerequisites import program
from lab.scenario import reader
from lab.servers.cluster import cluster
from lab.servers.supervisor import Supervisor

WRK_S = 3


def measure(pairs: int) -> Iterator[Measured]:
    program("wrk")  # report a missing program before anything is started
    rush, none = reader.load("rush"), stages()["none"]
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        folder = Path(name)
        try:
            with (
                cluster(supervisor, none, rush, "journals", folder / "with") as with_journals,
                cluster(supervisor, none, rush, "no-journals", folder / "without", journals=False) as without,
            ):
                for system in (with_journals, without):
                    wrk(system.address, folder, 1)  # warm
                rates = list(
                    pairwise(
                        pairs, lambda: wrk(with_journals.address, folder, WRK_S), lambda: wrk(without.address, folder, WRK_S)
                    )
                )
        finally:
            supervisor.close()
    ratios = [one / other for one, other in rates]
    what = f"throughput with journals and failpoints, as a share of that without, {pairs} pairs"
    yield ratio("journals", what, RatioLimit(at_least=0.92), ratios)
