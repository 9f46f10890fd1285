"""A worker: the program that holds locks for a replica."""

from __future__ import annotations

import contextlib
import ctypes
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from app.failpoints import injection
from app.foreign.wire.lane import WireLane, renewal
from app.journal import FENCES
from app.request.context import CURRENT, for_nobody

LIBC, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1
ANSWERS = {"acquire": ("yes", "no", "error"), "release": ("ok", "lost", "error")}
FORMS = {"acquire": "yes [FENCE], no, error TEXT", "release": "ok, lost, error TEXT"}
FENCE = re.compile("[0-9]{1,19}")  # a time in nanoseconds has 19 digits
SHOWN = 200  # letters of what a worker said


class BadWorker(Exception):  # noqa: N818 - names what it is
    """The worker cannot be started, has ended, or does not keep to the protocol. The message names program and line."""


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
        """Hand an answer to its lane. Return what is wrong with it, empty if nothing is."""
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
            return f"the worker {self.command} ended with {how}; what it wrote to its standard error is in the log of the replica"
        return f"the worker {self.command} has closed its standard output"

    def _fail(self, why: str) -> None:
        """Let every call that waits fail, and all that come."""
        self.failure = self.failure or why
        for lane in [lane for lane in self.lanes.values() if lane.verb]:
            lane.answers.put(BadWorker(self.failure))


class WorkerLane(WireLane):
    """A lane of a worker."""

    def __init__(self, number: int, stores: Sequence[Callable[[], socket.socket]], worker: WireWorker) -> None:
        """Announce the lane to its worker. Raises BadWorker."""
        super().__init__(number, stores)
        self.worker = worker
        self.verb = ""  # of the call that waits for its answer
        self.is_dropped = False  # the answer to its last call can still come
        worker.lanes[str(number)] = self
        worker.say("lane", number, *self.ports)

    def call(self, at_most_s: float, verb: str, *words: object) -> list[str]:
        """Make a call, and return the worker's answer. What the lane carries meanwhile belongs to the request of this thread.

        Raises BadWorker, what a failpoint raises meanwhile, and queue.Empty if no answer comes in time.
        """
        self.verb, self.place = verb, CURRENT.get()
        try:
            self.worker.say(self.number, verb, *words)
            answer = self.answers.get(timeout=at_most_s)
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


def _end_with_parent() -> None:
    """Let the kernel end the worker when its replica has died, however it died."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
