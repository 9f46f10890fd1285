"""Control containers from inside a container: requests go to the lab on the host, which may
use Docker's engine.

A container with the engine's socket would control the whole machine, so the judge in a container
has none. It writes a request as a file into the run folders' volume. The lab on the host, which
started it, carries the request out and answers. If no lab on the host started the run (but ``docker
compose run``), faults that need it are refused.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

VARIABLE = "LAB_HANDS"
KILL, START, PAUSE, UNPAUSE = ("kill", "start", "pause", "unpause")  # docker's commands
CUT, MEND = ("cut", "mend")  # disconnect a replica's container from the network of the locks, and connect it again
ANSWERED_WITHIN_S = 30.0
LOOK_EVERY_S = 0.005


class HostControl:
    """Send requests to the host, from a container."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number = 0
        self._one_at_a_time = threading.Lock()  # the thread of the fault injector sends requests as well

    @staticmethod
    def found() -> HostControl | None:
        """Return the control over containers; None if this run has none."""
        place = os.environ.get(VARIABLE)
        return HostControl(Path(place)) if place else None

    def do(self, action: str, service: str) -> None:
        """Request an action for a service or a container, and wait until it is done. Raises OSError with the engine's message."""
        with self._one_at_a_time:
            self._number += 1
            question, answer = self.folder / f"{self._number}.ask", self.folder / f"{self._number}.answer"
            draft = self.folder / f".{self._number}"
            draft.write_text(json.dumps({"action": action, "service": service}), encoding="utf-8")
            draft.rename(question)
            until = time.monotonic() + ANSWERED_WITHIN_S
            while not answer.exists():
                if time.monotonic() > until:
                    raise OSError(f"the lab on the host did not answer the request to {action} {service}")
                time.sleep(LOOK_EVERY_S)
            if words := answer.read_text(encoding="utf-8"):
                raise OSError(f"{action} {service}: {words}")


class HostControlServer(threading.Thread):
    """Carry out requests, on the host, until it is closed. act: takes an action and its target; raises OSError if it fails."""

    def __init__(self, folder: Path, act: Callable[[str, str], None]) -> None:
        super().__init__(name="host control", daemon=True)
        self.folder, self.act = folder, act
        self._over = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            for question in sorted(self.folder.glob("*.ask")):
                self._answer(question)

    def _answer(self, question: Path) -> None:
        request = json.loads(question.read_text(encoding="utf-8"))
        question.unlink()
        words = ""
        try:
            self.act(request["action"], request["service"])
        except OSError as error:
            words = str(error) or "it failed"
        draft = question.with_suffix(".draft")
        draft.write_text(words, encoding="utf-8")
        draft.rename(question.with_suffix(".answer"))

    def close(self) -> None:
        """Answer no more requests."""
        self._over.set()
        self.join()
