"""Where a run's servers are: processes of this machine, or containers. LAB_ENGINE decides; the image sets it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from lab.errors import choose_from
from lab.servers.cluster import Cluster

VARIABLE = "LAB_ENGINE"
LOCAL, COMPOSE = ENGINES = ("local", "compose")


def engine() -> str:
    """Return the engine in use. Raises BadInput for an unknown one."""
    return choose_from("engine", os.environ.get(VARIABLE) or LOCAL, ENGINES, VARIABLE)


def cluster() -> Callable[..., AbstractContextManager[Cluster]]:
    """Return the engine's ``cluster(supervisor, stage, scenario, run, folder, …)``."""
    if engine() == LOCAL:
        from lab.servers.cluster import cluster as local

        return local
    from lab.containers.cluster import cluster as composed

    return composed


def as_many_as_are_up(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the numbers of replicas and workers that are up, where the run is in containers and gives none."""
    if engine() == LOCAL:
        return dict(given)
    from lab.containers.cluster import REPLICA, WORKERS, addresses

    up = {"replicas": len(addresses(REPLICA)), "processes": len(addresses(WORKERS))}
    return {name: value if value is not None else up.get(name) or None for name, value in given.items()}
