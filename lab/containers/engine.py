"""Choose the engine of a run: processes of this machine, or containers. LAB_ENGINE decides, and the image sets it.

Other modules of containers are imported only if a run is in containers: no other run needs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from lab.errors import choose_from
from lab.servers.cluster import Cluster
from lab.servers.cluster import cluster as local

VARIABLE = "LAB_ENGINE"
LOCAL, COMPOSE, SWARM = ENGINES = ("local", "compose", "swarm")


def engine() -> str:
    """Return the engine in use. Raises BadInput for an unknown one."""
    return choose_from("engine", os.environ.get(VARIABLE) or LOCAL, ENGINES, VARIABLE)


def cluster() -> Callable[..., AbstractContextManager[Cluster]]:
    """Return the engine's ``cluster(supervisor, stage, scenario, run, folder, …)``."""
    if engine() == LOCAL:
        return local
    from lab.containers.cluster import cluster as composed

    return partial(composed, has_hosts=engine() == SWARM)


def load_workers(system: Cluster, folder: Path) -> AbstractContextManager[None]:
    """Run Locust's workers in their containers within the block, if the system has any. Raises OSError, NotReady."""
    if not system.workers:
        return nullcontext()
    from lab.containers.cluster import load_workers as composed

    return composed(system.workers, system.address, folder)


def as_many_as_are_up(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options; if the run is in containers, also the numbers of replicas and workers that are up."""
    options = {name: value for name, value in given.items() if value is not None}
    if engine() == LOCAL:
        return options
    from lab.containers.cluster import REPLICA, WORKERS, addresses

    up = {"replicas": len(addresses(REPLICA)), "processes": len(addresses(WORKERS))}
    return {name: number for name, number in up.items() if number} | options
