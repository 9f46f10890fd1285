"""Where Locust asks the lab: a Unix socket. What is said there is told in ``lab/ui/locust_plugin.py``, Locust's side."""

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
    """A socket in a folder that only this user can enter. Runs are put into ``runs``.

    check: reads a form, and raises BadInput for what cannot be run. offer: what its drop-downs say.
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
    """One connection of Locust's."""

    server: ControlSocket

    def handle(self) -> None:
        question = json.loads(self.rfile.readline() or b"{}")
        run = LocustRun(question.get("form", {}), self.wfile)
        match question.get("ask"):
            case "shelf":
                run.say(**self.server.offer())
            case "check":
                run.say(**self._check(run.form))
            case "run":
                self._converse(run)

    def _check(self, form: Mapping[str, str]) -> dict[str, Any]:
        try:
            request = self.server.check(form)
        except BadInput as reason:
            return {"refused": str(reason)}
        except Exception as error:  # noqa: BLE001 - such as a stage's file that cannot be imported just now
            return {"refused": failure(error)}
        return {} if request.scenario.rate else {"users": request.scenario.users}

    def _converse(self, run: LocustRun) -> None:
        self.server.runs.put(run)
        for line in self.rfile:  # the only thing Locust has to say is that it has ended
            run.complete = json.loads(line)["ended"]
            run.ended.set()
        run.lost = not run.ended.is_set()
        run.ended.set()


def failure(error: Exception) -> str:
    """What Locust is told where the lab is wrong, and not the form."""
    return f"the lab itself failed: {type(error).__name__}: {error}"
