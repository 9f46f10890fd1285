"""The lock of a worker, as a replica uses it."""

from __future__ import annotations

import contextlib
import queue
import shutil
import threading
from pathlib import Path
from typing import Any

from app.foreign.wire.lane import servers
from app.foreign.wire.worker import SHOWN, BadWorker, WireWorker, WorkerLane
from app.lock import Grant, Lock, NotAcquired, NotOwner, Result, Stage, Work

PATIENCE_S = 30.0  # how much longer than the wait of a request a call may take: some locks retry a release as well


class WorkerFailed(Exception):  # noqa: N818 - names what happened
    """The worker has answered ``error TEXT``, or not at all. The message has the text."""


FAILURES = (BadWorker, WorkerFailed)


class Workers:
    """The workers of a stage in one replica, and the lanes that are free."""

    def __init__(self, stage: Stage, store: Any) -> None:
        """Start the first worker. A failure is kept: the replica reports it, and refuses requests."""
        self.stage = stage
        self.servers = servers(store)
        self.command, self.folder = resolved(stage)
        self.failure = ""
        self.has_said = False  # whether any worker has answered, or sent a command
        self._worker: WireWorker | None = None  # the latest
        self._lanes = 0
        self._free: queue.LifoQueue[WorkerLane] = queue.LifoQueue()  # the last one first: few connections stay in use
        self._mutex = threading.Lock()
        with contextlib.suppress(BadWorker):
            self._free.put(self._new())

    def lock(self, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> Lock:
        """Return the lock of one request."""
        return WorkerLock(self, key, ttl_ms, wait_ms, retry_ms)

    def take(self) -> WorkerLane:
        """Return a free lane; a new one where none is free. Raises BadWorker."""
        self._check()
        with contextlib.suppress(queue.Empty):
            return self._free.get_nowait()
        return self._new()

    def give_back(self, lane: WorkerLane) -> None:
        """Take a lane back that works."""
        self._free.put(lane)

    def drop(self, lane: WorkerLane) -> None:
        """Forget a lane whose call has failed. A worker of its own ends with it."""
        lane.drop()
        if self.stage.worker_lanes:
            lane.worker.end()

    def call(self, lane: WorkerLane, at_most_s: float, verb: str, *words: object) -> list[str]:
        """Make a call. Raises BadWorker, WorkerFailed, and what a failpoint raises meanwhile."""
        try:
            said = lane.call(at_most_s, verb, *words)
        except queue.Empty:
            if not self.has_said and not lane.has_carried:
                self.failure = f"the worker {lane.worker.command} has not answered {verb}, and has sent nothing to the store"
                raise BadWorker(self.failure) from None
            raise WorkerFailed(f"the worker has not answered {verb} within {at_most_s:.0f} s") from None
        except BadWorker as error:
            self.failure = str(error)
            raise
        self.has_said = True
        if said[0] == "error":
            raise WorkerFailed(" ".join(said[1:])[:SHOWN] or "error")
        return said

    def _check(self) -> None:
        if self.failure:
            raise BadWorker(self.failure)

    def _new(self) -> WorkerLane:
        """Make a lane, in the worker of all, or in one of its own. Raises BadWorker."""
        with self._mutex:
            self._check()
            try:
                if self.stage.worker_lanes or self._worker is None:
                    self._worker = WireWorker(self.command, self.folder)
                self._lanes += 1
                return WorkerLane(self._lanes - 1, self.servers, self._worker)
            except BadWorker as error:
                self.failure = str(error)
                raise


class WorkerLock:
    """One request's lock: its lane acquires before the work, and releases after it, as a block of ``with`` would."""

    def __init__(self, workers: Workers, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        self.workers, self.key, self.wait_ms = workers, key, wait_ms
        self.words = (key, ttl_ms, wait_ms, retry_ms)
        self.at_most_s = wait_ms / 1000 + PATIENCE_S

    def run(self, work: Work[Result]) -> Result:
        """Acquire, work, release. A lane whose call fails is dropped: a lock that it holds is not released."""
        lane = self.workers.take()
        with self._dropped_on_error(lane):
            said = self.workers.call(lane, self.at_most_s, "acquire", *self.words)
        if said[0] == "no":
            self.workers.give_back(lane)
            raise NotAcquired(self.key, self.wait_ms)
        locked = self.workers.stage.key.format(key=self.key)
        try:
            return work(Grant(locked, fence=int(said[1]) if len(said) > 1 else 0))
        finally:
            with self._dropped_on_error(lane):
                freed = self.workers.call(lane, self.at_most_s, "release")
            self.workers.give_back(lane)
            if freed[0] == "lost":
                raise NotOwner(self.key, "this request")

    @contextlib.contextmanager
    def _dropped_on_error(self, lane: WorkerLane) -> Any:
        try:
            yield
        except BaseException:
            self.workers.drop(lane)
            raise


def resolved(stage: Stage) -> tuple[list[str], Path]:
    """Return the command of a stage's worker, and the folder that it is started in.

    A program with a slash in its name is looked for from the folder of the stage's file; others where programs are.
    """
    folder = stage.path.parent if stage.path else Path.cwd()
    program, *words = stage.worker
    found = str(folder / program) if "/" in program else shutil.which(program) or program
    return [found, *words], folder / stage.worker_folder
