"""Where a run's servers are: processes of this machine, or containers. LAB_ENGINE decides; the image sets it.

Modules of containers are imported only where a run is in containers: no other run needs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from lab.errors import choose_from
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster
from lab.servers.cluster import cluster as local

VARIABLE = "LAB_ENGINE"
LOCAL, COMPOSE = ENGINES = ("local", "compose")


def engine() -> str:
    """Return the engine in use. Raises BadInput for an unknown one."""
    return choose_from("engine", os.environ.get(VARIABLE) or LOCAL, ENGINES, VARIABLE)


def cluster() -> Callable[..., AbstractContextManager[Cluster]]:
    """Return the engine's ``cluster(supervisor, stage, scenario, run, folder, …)``."""
    if engine() == LOCAL:
        return local
    from lab.containers.cluster import cluster as composed

    return composed


def load_workers(system: Cluster, scenario: Scenario, folder: Path) -> AbstractContextManager[None]:
    """Run Locust's workers in their containers for the duration of the block, if the system has any. Raises OSError, NotReady."""
    if not system.workers:
        return nullcontext()
    from lab.containers.cluster import load_workers as composed

    return composed(system.workers, scenario, system.address, folder)


def as_many_as_are_up(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the numbers of replicas and workers that are up, where the run is in containers and gives none."""
    if engine() == LOCAL:
        return dict(given)
    from lab.containers.cluster import REPLICA, WORKERS, addresses

    up = {"replicas": len(addresses(REPLICA)), "processes": len(addresses(WORKERS))}
    return {name: value if value is not None else up.get(name) or None for name, value in given.items()}
