"""One press of Start in Locust's page: the Unix socket on which Locust asks the lab, and the drive of the run that it requests.

The messages are described in ``lab/ui/locust_plugin.py``, Locust's side.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.errors import BadInput
from lab.load.locust import PATIENCE_S, LoadFailed
from lab.run.runner import CutShort, Drive
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster
from lab.ui.posted import RunRequest, offered

STOPPED_WITHIN_S = 5.0
QUIET_WITHIN_S = 5.0
Check = Callable[[Mapping[str, str]], RunRequest]


@dataclass
class LocustRun:
    """A run that Locust's page requests."""

    form: Mapping[str, str]  # the form's fields
    line: Any  # the connection to Locust
    # set when nothing more is sent: Locust reported it, or Locust is gone
    ended: threading.Event = field(default_factory=threading.Event)
    complete: bool = False  # Locust reported that all requests were sent and answered
    lost: bool = False  # Locust is gone

    def send(self, **message: Any) -> None:
        """Send Locust a message, if it still runs."""
        with contextlib.suppress(OSError, ValueError):
            self.line.write(json.dumps(message).encode() + b"\n")


class ControlSocket(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A socket in a folder that only this user can enter. It puts requested runs into ``runs``.

    check: parses a form, and raises BadInput for a form that cannot be run. offer: returns the
    choices of the form's drop-downs.
    """

    daemon_threads = True

    def __init__(self, path: Path, check: Check, offer: Callable[[], dict[str, Any]] = offered) -> None:
        super().__init__(str(path), ControlHandler)
        self.path, self.check, self.offer = path, check, offer
        self.runs: queue.Queue[LocustRun] = queue.Queue()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()


class ControlHandler(socketserver.StreamRequestHandler):
    """Answers one connection of Locust."""

    server: ControlSocket

    def handle(self) -> None:
        question = json.loads(self.rfile.readline() or b"{}")
        run = LocustRun(question.get("form", {}), self.wfile)
        match question.get("ask"):
            case "shelf":
                run.send(**self.server.offer())
            case "check":
                run.send(**self._check(run.form))
            case "run":
                self._wait_for_end(run)

    def _check(self, form: Mapping[str, str]) -> dict[str, Any]:
        try:
            request = self.server.check(form)
        except BadInput as reason:
            return {"refused": str(reason)}
        except Exception as error:  # noqa: BLE001 - for example, a stage's file that cannot be imported
            return {"refused": failure(error)}
        return {"users": request.scenario.locust_users}

    def _wait_for_end(self, run: LocustRun) -> None:
        self.server.runs.put(run)
        for line in self.rfile:  # Locust sends one message: that its test has ended
            run.complete = json.loads(line)["ended"]
            run.ended.set()
        run.lost = not run.ended.is_set()
        run.ended.set()


def failure(error: Exception) -> str:
    """Return the message for Locust if the lab failed, and not the form."""
    return f"the lab itself failed: {type(error).__name__}: {error}"


def drive_by_page(run: LocustRun, scenario: Scenario, kill: Callable[[], None], follow: Callable[[Path], None]) -> Drive:
    """Return the drive of this run: Locust gets the servers' address, and reports when it has
    ended.

    kill: ends Locust at once. follow: called with the run's folder just before requests are sent.
    """

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        record = folder / "requests.jsonl"
        record.touch()
        follow(folder)
        where = {"host": f"http://{system.address}", "record": str(record)}
        what = {"requests": scenario.requests, "rate": scenario.rate or 0.0, "seed": scenario.seed}
        what |= {"connections": scenario.connections or 0}
        run.send(plan=where | what | {"timeout_s": scenario.request_timeout_s})
        try:
            reason = _watch(run, record, scenario, well)
            if reason:
                run.send(stop=reason)
                if not run.ended.wait(STOPPED_WITHIN_S):
                    kill()
        except KeyboardInterrupt:
            kill()  # otherwise Locust would continue to record
            raise
        if run.lost:
            raise LoadFailed("Locust has ended in the middle of the run")
        if not well():
            return
        if reason:
            raise LoadFailed(reason)
        if not run.complete:
            system.quiet(QUIET_WITHIN_S)  # so that requests in flight are written before the counter is read
            raise CutShort

    return drive


def _watch(run: LocustRun, record: Path, scenario: Scenario, well: Callable[[], bool]) -> str:
    """Wait until Locust reports its end, and return an empty string; or return the reason why the
    run must end early.
    """
    size, moved_s = 0, time.monotonic()
    while not run.ended.wait(0.02):
        if not well():
            return "a server has ended in the middle of the run"
        if (now := record.stat().st_size) > size:
            size, moved_s = now, time.monotonic()
        if time.monotonic() - moved_s > scenario.request_timeout_s + PATIENCE_S:
            return f"no answer for {time.monotonic() - moved_s:.0f} s"
    return ""
