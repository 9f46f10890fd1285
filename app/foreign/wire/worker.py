"""A worker: the program that holds locks for a replica."""

from __future__ import annotations

import contextlib
import ctypes
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from app.failpoints import injection
from app.foreign.wire.lane import WireLane
from app.journal import FENCES
from app.request.context import for_nobody

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
        self.lanes: dict[str, WireLane] = {}
        self.called: dict[str, str] = {}  # by lane: the call that waits for its answer
        self.given_up: set[str] = set()  # lanes that were dropped during a call: its answer can still come
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

    def add(self, lane: WireLane) -> None:
        """Announce a lane to the worker. Raises BadWorker."""
        self.lanes[str(lane.number)] = lane
        self._say(f"lane {lane.number} {' '.join(map(str, lane.ports))}")

    def call(self, lane: WireLane, verb: str, *words: object) -> Callable[[], None]:
        """Return a function that makes a call, which raises BadWorker."""

        def say() -> None:
            self.called[str(lane.number)] = verb
            self._say(" ".join(map(str, (lane.number, verb, *words))))

        return say

    def drop(self, lane: WireLane) -> None:
        """Let the worker forget a lane."""
        if self.called.pop(str(lane.number), None):
            self.given_up.add(str(lane.number))
        lane.close()
        with contextlib.suppress(BadWorker):
            self._say(f"drop {lane.number}")

    def end(self) -> None:
        """End the program."""
        injection.COMPANIONS.discard(self._process.pid)
        self._process.kill()

    def _say(self, line: str) -> None:
        if self.failure:
            raise BadWorker(self.failure)
        stdin = self._process.stdin
        try:
            with self._speaking:
                stdin.write(f"{line}\n".encode())  # type: ignore[union-attr] # it is a pipe
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
        verb = self.called.get(number)
        if verb is None and number in self.given_up:
            self.given_up.remove(number)
            return ""
        if verb is None:
            return f"lane {number} was not called"
        if not words or words[0] not in ANSWERS[verb]:
            return f"it is no answer to {verb}. The answers are {FORMS[verb]}"
        if words[0] == "yes" and len(words) > 1 and not (FENCE.fullmatch(words[1]) and int(words[1]) < FENCES):
            return f"the fence {words[1][:SHOWN]!r} is not a whole number below 2^63"
        del self.called[number]
        lane.answered(words)
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
        for number in list(self.called):
            self.lanes[number].answered(BadWorker(self.failure))


def _end_with_parent() -> None:
    """Let the kernel end the worker when its replica has died, however it died."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
