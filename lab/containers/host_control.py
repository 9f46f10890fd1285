"""Power over containers, at arm's length: asked for inside, used outside by whoever may speak to Docker's engine.

A container with the engine's socket in it would have power over the whole machine. So a judge inside has none: it leaves a
question as a file in the run folders' volume, and the lab that started it, on the host, does what is asked and answers.
Without such a lab (a run started by ``docker compose run``) there is nobody to ask, and faults that need one are refused.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

VARIABLE = "LAB_HANDS"
KILL, START, PAUSE, UNPAUSE, RELOAD = ("kill", "start", "pause", "unpause", "reload")
CUT, MEND = ("cut", "mend")  # of a replica, named by its container: from the network of the locks, and back to it
ANSWERED_WITHIN_S = 30.0
LOOK_EVERY_S = 0.005


class HostControl:
    """The asking end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._asked = 0
        self._asking = threading.Lock()  # the thread that watches faults asks as well

    @staticmethod
    def found() -> HostControl | None:
        """Those this container was given."""
        place = os.environ.get(VARIABLE)
        return HostControl(Path(place)) if place else None

    def do(self, what: str, service: str) -> None:
        """Have it done; returns when it is. Raises OSError with the engine's own words when it cannot be."""
        with self._asking:
            self._asked += 1
            question, answer = self.folder / f"{self._asked}.ask", self.folder / f"{self._asked}.answer"
            draft = self.folder / f".{self._asked}"
            draft.write_text(json.dumps({"what": what, "service": service}), encoding="utf-8")
            draft.rename(question)
            until = time.monotonic() + ANSWERED_WITHIN_S
            while not answer.exists():
                if time.monotonic() > until:
                    raise OSError(f"nobody answered when asked to {what} {service}")
                time.sleep(LOOK_EVERY_S)
            if words := answer.read_text(encoding="utf-8"):
                raise OSError(f"{what} {service}: {words}")


class HostControlServer(threading.Thread):
    """The answering end: carries out what is asked until closed. act raises OSError for what cannot be done."""

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
        asked = json.loads(question.read_text(encoding="utf-8"))
        question.unlink()
        words = ""
        try:
            self.act(asked["what"], asked["service"])
        except OSError as error:
            words = str(error) or "it failed"
        draft = question.with_suffix(".draft")
        draft.write_text(words, encoding="utf-8")
        draft.rename(question.with_suffix(".answer"))

    def close(self) -> None:
        """Answer nobody any more."""
        self._over.set()
        self.join()
