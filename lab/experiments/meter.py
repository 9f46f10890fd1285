"""What measures a point of an experiment: each file of ``measures/`` has one kind, as ``METER``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil

from lab.experiments.experiment import Experiment
from lab.experiments.result import Point
from lab.servers.cluster import Cluster

MIB = 2**20


@dataclass
class Meter:
    """Measures the points of one experiment."""

    experiment: Experiment
    # the scenario's options that the user gave
    given: Mapping[str, int]
    # as it was typed
    command: str
    # closes at the end what was opened
    stack: contextlib.ExitStack

    def conditions(self, stage: str, value: str) -> str:
        """Return the conditions of a point, without what is varied. Raises BadInput if there cannot be such a point."""
        raise NotImplementedError

    def point(self, stage: str, value: str, repeat: int) -> Point:
        """Measure a point. Raises NothingShown, and KeyboardInterrupt."""
        raise NotImplementedError


class Used:
    """The processor time of the parts of a system, from its making to ``end``. The load must start and end in between.

    The parts are the servers that the cluster names. The load is what the supervisor's ended children used.
    """

    def __init__(self, supervisor: int, system: Cluster) -> None:
        """supervisor: the pid of the process that starts all others."""
        servers: dict[str, Any] = {"replicas": system.replicas, "nginx": [system.nginx]}
        servers["stores"] = [one for one in (*system.lock_store, system.counter_redis) if one]
        self._parts = {part: [process for one in several for process in _family(one.pid)] for part, several in servers.items()}
        self._supervisor = psutil.Process(supervisor)
        self._before = self._now()

    def end(self) -> None:
        """Take the figures, while the servers still run."""
        self._spent_s = {part: after - self._before[part] for part, after in self._now().items()}
        self._replicas_mib = sum(process.memory_info().rss for process in self._parts["replicas"] if process.is_running()) / MIB

    def figures(self, requests: int) -> dict[str, float]:
        """Return the milliseconds of processor time for each request, by part and in all, and the memory of the replicas."""
        each = {f"{part}_ms": 1000 * spent_s / requests for part, spent_s in self._spent_s.items()}
        return each | {"all_ms": sum(each.values()), "replicas_mib": self._replicas_mib}

    def _now(self) -> dict[str, float]:
        ended = self._supervisor.cpu_times()
        spent = {part: sum(map(_spent_s, processes)) for part, processes in self._parts.items()}
        return spent | {"load": ended.children_user + ended.children_system}


def _family(pid: int) -> list[psutil.Process]:
    head = psutil.Process(pid)
    return [head, *head.children(recursive=True)]


def _spent_s(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):  # a server that was killed uses no more
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0
