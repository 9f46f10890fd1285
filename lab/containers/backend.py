"""Where a run's servers are: processes of this machine, or containers. Chosen by LAB_ENGINE; the file in the image sets it."""

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
    """The one in use. Raises BadInput for one that there is not."""
    return choose_from("engine", os.environ.get(VARIABLE) or LOCAL, ENGINES, VARIABLE)


def cluster() -> Callable[..., AbstractContextManager[Cluster]]:
    """Its ``cluster(supervisor, stage, scenario, run, folder, …)``."""
    if engine() == LOCAL:
        from lab.servers.cluster import cluster as local

        return local
    from lab.containers.cluster import cluster as composed

    return composed


def as_many_as_are_up(given: Mapping[str, Any]) -> dict[str, Any]:
    """In containers, a run is over the replicas and workers that are there, unless it was told how many."""
    if engine() == LOCAL:
        return dict(given)
    from lab.containers.cluster import REPLICA, WORKERS, addresses

    there = {"replicas": len(addresses(REPLICA)), "processes": len(addresses(WORKERS))}
    return {name: value if value is not None else there.get(name) or None for name, value in given.items()}
