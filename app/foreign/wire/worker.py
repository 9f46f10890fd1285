"""Run a worker, the program that holds locks for a replica, with its lanes, and make the locks of requests."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.failpoints import injection
from app.foreign.wire.lane import WireLane, renewal, servers
from app.journal import FENCES
from app.lock import Grant, NotAcquired, NotOwner, Result, Stage, Work
from app.request.context import CURRENT, for_nobody

LIBC, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1
ANSWERS = {"acquire": ("yes", "no", "error"), "release": ("ok", "lost", "error")}
FORMS = {"acquire": "yes [FENCE], no, error TEXT", "release": "ok, lost, error TEXT"}
FENCE = re.compile("[0-9]{1,19}")  # a time in nanoseconds has 19 digits
SHOWN = 200  # letters of a worker's line
PATIENCE_S = 30.0  # how much longer than the wait of a request a call may take: some locks retry a release as well


class BadWorker(Exception):  # noqa: N818 - a description of the worker
    """The worker cannot be started, has ended, or does not keep to the protocol. The message names program and line."""


class WorkerFailed(Exception):  # noqa: N818 - an event
    """The worker has answered ``error TEXT``, or not at all. The message has the text."""


FAILURES = (BadWorker, WorkerFailed)


class WireWorker:
    """A running worker, and its lanes."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """Start the program in a folder. Raises BadWorker."""
        self.command = shlex.join(command)
        self.failure = ""  # why no call can be made any more
        self.lanes: dict[str, WorkerLane] = {}
        self._speaking = threading.Lock()
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sys.stderr,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - it makes one system call, and takes no lock
            )
        except OSError as error:
            raise BadWorker(f"the worker {self.command} cannot be started: {error.strerror}") from None
        injection.COMPANIONS.add(self._process.pid)
        with for_nobody():
            threading.Thread(target=self._listen, name="worker", daemon=True).start()

    def end(self) -> None:
        """End the program."""
        injection.COMPANIONS.discard(self._process.pid)
        self._process.kill()

    def say(self, *words: object) -> None:
        """Send a line. Raises BadWorker."""
        if self.failure:
            raise BadWorker(self.failure)
        stdin = self._process.stdin
        try:
            with self._speaking:
                stdin.write(f"{' '.join(map(str, words))}\n".encode())  # type: ignore[union-attr] # it is a pipe
                stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise BadWorker(self._ended()) from None

    def _listen(self) -> None:
        for raw in self._process.stdout:  # type: ignore[union-attr] # it is a pipe
            line = raw.decode(errors="replace").strip()
            if line and (wrong := self._take(line)):
                self._fail(f"the worker {self.command} said {line[:SHOWN]!r}: {wrong}")
                self._process.kill()
                return
        self._fail(self._ended())

    def _take(self, line: str) -> str:
        """Give an answer to its lane. Return the mistake in the answer; empty without one."""
        number, *words = line.split()
        lane = self.lanes.get(number)
        if lane is None:
            return f"{number[:SHOWN]!r} is not a lane. The lanes are {', '.join(self.lanes) or 'not yet made'}"
        if lane.is_dropped:
            return ""
        if not lane.verb:
            return f"lane {number} was not called"
        if not words or words[0] not in ANSWERS[lane.verb]:
            return f"it is no answer to {lane.verb}. The answers are {FORMS[lane.verb]}"
        if words[0] == "yes" and len(words) > 1 and not (FENCE.fullmatch(words[1]) and int(words[1]) < FENCES):
            return f"the fence {words[1][:SHOWN]!r} is not a whole number below 2^63"
        lane.verb = ""
        lane.answers.put(words)
        return ""

    def _ended(self) -> str:
        injection.COMPANIONS.discard(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(1)
            how = signal.Signals(-status).name if status < 0 else f"status {status}"
            return f"the worker {self.command} ended with {how}; its standard error is in the log of the replica"
        return f"the worker {self.command} has closed its standard output"

    def _fail(self, why: str) -> None:
        """Let every waiting call and every later call fail."""
        self.failure = self.failure or why
        for lane in [lane for lane in self.lanes.values() if lane.verb]:
            lane.answers.put(BadWorker(self.failure))


class WorkerLane(WireLane):
    """A lane of a worker."""

    def __init__(self, number: int, stores: Sequence[Callable[[], socket.socket]], worker: WireWorker) -> None:
        """Announce the lane to its worker. Raises BadWorker."""
        super().__init__(stores)
        self.number, self.worker = number, worker
        self.verb = ""  # the verb of the call that waits for its answer
        self.is_dropped = False  # if so, the answer to its last call can still come, and is ignored
        worker.lanes[str(number)] = self
        worker.say("lane", number, *self.ports)

    def call(self, at_most_s: float, verb: str, *words: object) -> list[str]:
        """Make a call, and return the words of the answer. Meanwhile the lane's commands belong to the request of this thread.

        Raises BadWorker or the error of a failpoint; if no answer comes in time, queue.Empty.
        """
        self.verb, self.place = verb, CURRENT.get()
        try:
            self.worker.say(self.number, verb, *words)
            answer: list[str] | BaseException = self.answers.get(timeout=at_most_s)
        finally:
            self.place = renewal(self.place)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def drop(self) -> None:
        """Let the worker forget the lane."""
        self.is_dropped, self.verb = True, ""
        self.close()
        with contextlib.suppress(BadWorker):
            self.worker.say("drop", self.number)


class Workers:
    """The workers of a stage in one replica, and the lanes that are free."""

    def __init__(self, stage: Stage, store: Any) -> None:
        """Start the first worker. A failure is kept: the replica reports it, and refuses requests."""
        self.stage = stage
        self.servers = servers(store)
        self.folder = stage.path.parent if stage.path else Path.cwd()
        program, *words = stage.worker  # a name with a slash is a path from that folder; another name is searched in PATH
        self.command = [str(self.folder / program) if "/" in program else shutil.which(program) or program, *words]
        self.failure = ""
        self.has_said = False  # whether any worker has answered, or sent a command
        self._worker: WireWorker | None = None  # the latest
        self._lanes = 0
        self.free: queue.LifoQueue[WorkerLane] = queue.LifoQueue()  # the last one first: few connections stay in use
        self._mutex = threading.Lock()
        with contextlib.suppress(BadWorker):
            self.free.put(self._new())

    def take(self) -> WorkerLane:
        """Return a free lane; a new one if none is free. Raises BadWorker."""
        if self.failure:
            raise BadWorker(self.failure)
        with contextlib.suppress(queue.Empty):
            return self.free.get_nowait()
        return self._new()

    def call(self, lane: WorkerLane, at_most_s: float, verb: str, *words: object) -> list[str]:
        """Make a call, and return the words of the answer. Raises BadWorker, WorkerFailed, and the error of a failpoint.

        If the call fails, the lane is dropped; if its worker has no other lane, the worker ends. A lock that it holds is not
        released.
        """
        try:
            return self._answer(lane, at_most_s, verb, *words)
        except BaseException:
            lane.drop()
            if self.stage.worker_lanes:
                lane.worker.end()
            raise

    def _answer(self, lane: WorkerLane, at_most_s: float, verb: str, *words: object) -> list[str]:
        try:
            answer = lane.call(at_most_s, verb, *words)
        except queue.Empty:
            if not self.has_said and not lane.has_carried:
                self.failure = f"the worker {lane.worker.command} has not answered {verb}, and has sent nothing to the store"
                raise BadWorker(self.failure) from None
            raise WorkerFailed(f"the worker has not answered {verb} within {at_most_s:.0f} s") from None
        except BadWorker as error:
            self.failure = str(error)
            raise
        self.has_said = True
        if answer[0] == "error":
            raise WorkerFailed(" ".join(answer[1:])[:SHOWN] or "error")
        return answer

    def _new(self) -> WorkerLane:
        """Make a lane, in the shared worker, or in a worker of its own. Raises BadWorker."""
        with self._mutex:
            try:
                if self.stage.worker_lanes or self._worker is None:
                    self._worker = WireWorker(self.command, self.folder)
                self._lanes += 1
                return WorkerLane(self._lanes - 1, self.servers, self._worker)
            except BadWorker as error:
                self.failure = str(error)
                raise


class WorkerLock:
    """One request's lock: its lane acquires before the work, and releases after it, like a block of ``with``."""

    def __init__(self, workers: Workers, key: str, ttl_ms: int, wait_ms: int, retry_ms: int, **_: object) -> None:
        """Take the arguments of a stage's lock. A worker gets no lease."""
        self.workers, self.key, self.wait_ms = workers, key, wait_ms
        self.words = (key, ttl_ms, wait_ms, retry_ms)
        self.at_most_s = wait_ms / 1000 + PATIENCE_S

    def run(self, work: Work[Result]) -> Result:
        """Acquire, work, release."""
        lane = self.workers.take()
        answer = self.workers.call(lane, self.at_most_s, "acquire", *self.words)
        if answer[0] == "no":
            self.workers.free.put(lane)
            raise NotAcquired(self.key, self.wait_ms)
        locked = self.workers.stage.key.format(key=self.key)
        try:
            return work(Grant(locked, fence=int(answer[1]) if len(answer) > 1 else 0))
        finally:
            freed = self.workers.call(lane, self.at_most_s, "release")
            self.workers.free.put(lane)
            if freed[0] == "lost":
                raise NotOwner(self.key, "this request")


def _end_with_parent() -> None:
    """Let the kernel end the worker when its replica has ended, for any reason."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
