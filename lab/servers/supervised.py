"""Servers that run for the duration of a block, and those of a store that stay up for the next run of this process.

The three servers of ZooKeeper or etcd take more than a second to start, and use as much processor time as many a run. MariaDB
and PostgreSQL take most of a second. A Redis server takes some hundredths of a second: it is always a new one.

Nothing of a run reaches the next run. Servers on which a fault acts, or whose clocks are shifted, belong to their run alone.
Servers of a run that failed are ended. Before servers are used again, the store ends all sessions and deletes everything, and
then asks each server whether it is empty (``clear`` of the store). Where that fails, the run gets new servers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import NotReady
from lab.evidence.run_folder import hidden_folder
from lab.interrupts import interruptible
from lab.scenario.fault import Target
from lab.scenario.scenario import Scenario
from lab.servers import process, stores
from lab.servers.process import Running
from lab.servers.supervisor import Supervisor


def can_be_kept(store: str, scenario: Scenario) -> bool:
    """Return whether the store's servers can serve another run after a run of this scenario."""
    harmed = bool(scenario.nodes_away) or any(fault.target is Target.STORE for fault in scenario.faults)
    return hasattr(stores.stores()[store], "clear") and not scenario.store_clocks and not harmed


@dataclass
class KeptServers:
    """The servers that a worker keeps: those of one store."""

    # the store, the number of its servers, and the folder of the runs
    key: tuple[str, int, Path] | None = None
    running: tuple[Running, ...] = ()
    folder: Path = field(default_factory=Path)
    lock: int = -1  # an open and locked folder is not one of a killed lab

    @contextlib.contextmanager
    def lend(self, supervisor: Supervisor, store: str, scenario: Scenario, logs: Path) -> Iterator[tuple[Running, ...]]:
        """Yield the empty servers of a store. They are ended with the block where it fails. Raises MissingProgram, NotReady.

        logs: the folder that gets what the servers have written to their logs meanwhile.
        """
        key = (store, scenario.store_nodes, logs.parent.parent)
        if key != self.key or not self._cleared(supervisor):
            self.close()
            self._start(supervisor, key, stores.stores()[store].programs(scenario))
        marks = [(one, one.log.stat().st_size) for one in self.running]
        done = False
        try:
            yield self.running
            done = True
        finally:
            for one, mark in marks:
                _copy(one.log, mark, logs / one.name)
            if not done:
                self.close()

    def close(self) -> None:
        """End the servers, and delete their files."""
        if self.key is not None:
            process.stop_all(self.running)
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self.lock)
        self.key, self.running = None, ()

    def _cleared(self, supervisor: Supervisor) -> bool:
        """Return whether the servers run, and hold nothing any more."""
        if self.key is None or not all(one.supervisor is supervisor and not one.killed and one.running() for one in self.running):
            return False
        try:
            stores.stores()[self.key[0]].clear(self.running)
        except (OSError, NotReady):
            return False
        return True

    def _start(self, supervisor: Supervisor, key: tuple[str, int, Path], programs: Sequence[process.ServerProgram]) -> None:
        self.folder = key[2] / f".servers-{os.getpid()}.part"
        self.lock = hidden_folder(self.folder)
        self.key = key
        starting: list[process.Starting] = []
        try:
            for one in programs:
                starting.append(process.start(one, supervisor, self.folder))
                self.running = tuple(one.running for one in starting)
            self.running = tuple(one.wait() for one in starting)
        except BaseException:
            self.close()
            raise


def _copy(log: Path, start: int, into: Path) -> None:
    """Write the end of a log, from a byte on, into a folder. A disk that is full is not reported: the run itself reports it."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        into.mkdir(parents=True, exist_ok=True)
        file.seek(start)
        (into / "log").write_bytes(file.read())


_kept: list[KeptServers] = []  # of this process, where it keeps servers


@contextlib.contextmanager
def lent(
    supervisor: Supervisor, stores: Collection[str], scenario: Scenario, logs: Path
) -> Iterator[dict[str, tuple[Running, ...]]]:
    """Yield, by store, servers that stay up after the block; none where each run starts its own. Raises as ``lend`` does."""
    for kept in _kept:
        for store in stores:
            if can_be_kept(store, scenario):
                with kept.lend(supervisor, store, scenario, logs) as running:
                    yield {store: running}
                return
        kept.close()  # servers that stay up for nothing would use the processor
    yield {}


def pids() -> list[int]:
    """Return the pids of the servers that stay up."""
    return [one.pid for kept in _kept for one in kept.running]


@contextlib.contextmanager
def keeping() -> Iterator[None]:
    """While the block runs, let servers stay up from run to run. The runs have one supervisor."""
    _kept.append(KeptServers())
    try:
        yield
    finally:
        _kept.pop().close()


_of_all: list[Supervisor] = []  # the supervisor of all runs of this process, where they have one


@contextlib.contextmanager
def supervised() -> Iterator[Supervisor]:
    """Yield a supervisor for the servers that the block starts. An interrupt ends the block; no
    server outlives it, unless servers are kept for the next run.
    """
    with interruptible():
        supervisor = _of_all[0] if _of_all else Supervisor()
        try:
            yield supervisor
        finally:
            if _of_all:
                supervisor.end_all(pids())
            else:
                supervisor.close()


@contextlib.contextmanager
def one_supervisor() -> Iterator[None]:
    """While the block runs, let the runs of this process have one supervisor: what a fork server imported for one run serves
    the next run.
    """
    _of_all.append(Supervisor())
    try:
        yield
    finally:
        _of_all.pop().close()
