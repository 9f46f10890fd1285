"""The Unix socket on which Locust asks the lab. The messages are described in
``lab/ui/locust_plugin.py``, Locust's side.
"""

from __future__ import annotations

import json
import queue
import socketserver
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.errors import BadInput
from lab.ui.locust_run import LocustRun
from lab.ui.run_form import RunRequest, offered

Check = Callable[[Mapping[str, str]], RunRequest]


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
    """Return the message for Locust where the lab failed, and not the form."""
    return f"the lab itself failed: {type(error).__name__}: {error}"
