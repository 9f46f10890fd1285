"""Locust with its web page in a process of its own: start it and watch it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lab.errors import NotReady
from lab.paths import LOCUSTFILES
from lab.prerequisites import search_path
from lab.servers.process import free_port, last_words
from lab.servers.supervisor import Supervisor
from lab.ui.addresses import from_here
from lab.ui.joining import as_teacher
from lab.ui.locust_environment import CONTROL, KEY, LIVE
from lab.ui.run_form import AT_ONCE, LOCUSTFILE, USERS

UP_WITHIN_S = 90.0  # it imports much: on an idle machine it takes two seconds, on a crowded one often twenty


@dataclass(frozen=True)
class PageSettings:
    """Where the pages are served, and how."""

    host: str  # the address to listen on
    port: int  # of Locust's page
    live_port: int  # of the lab's own page
    key: str = ""  # the teacher's; empty where nobody needs one
    processes: int = 1  # how many processes send the requests

    @property
    def visible(self) -> str:
        """Return a name under which this machine itself reaches the page."""
        return from_here(self.host)

    @property
    def address(self) -> str:
        return f"http://{self.visible}:{self.port}"

    @property
    def live_address(self) -> str:
        """Return the address of the lab's own page, with the teacher's key where there is one."""
        return f"http://{self.visible}:{self.live_port}/" + (f"?{urlencode({'k': self.key})}" if self.key else "")


class LocustProcess:
    """Locust's process, with its page."""

    def __init__(self, supervisor: Supervisor, place: PageSettings, control: Path, log: Path) -> None:
        self.place = place
        self._supervisor = supervisor
        self._control = control
        self._log = log
        env = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        env |= {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(LOCUSTFILES.parent)}
        env |= {CONTROL: str(control), LIVE: str(place.live_port), KEY: place.key}
        self._pid = supervisor.start(_argv(place), env, LOCUSTFILES.parent, log)

    def wait(self) -> None:
        """Wait until this page answers (and not another program on its port) with all its workers.
        Raises NotReady.
        """
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            self.check()
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                answer = self._answer()
                if answer.get("control") == str(self._control) and answer.get("ready"):
                    return
            time.sleep(0.02)
        raise NotReady(f"Locust's page did not come up at {self.place.address}; the end of its log:\n{last_words(self._log)}")

    def _answer(self) -> Any:
        """Return which lab's page is at the address."""
        with contextlib.closing(http.client.HTTPConnection(self.place.visible, self.place.port, timeout=1)) as connection:
            connection.request("GET", "/lab", headers=as_teacher(self.place.live_port, self.place.key))
            return json.load(connection.getresponse())

    def check(self) -> None:
        """Raise NotReady if Locust has ended."""
        if (status := self._supervisor.exit_of(self._pid)) is not None:
            raise NotReady(f"Locust ended with status {status}; the end of its log:\n{last_words(self._log)}")

    def kill(self) -> None:
        """End Locust at once."""
        self._supervisor.signal(self._pid, signal.SIGKILL)


def _argv(place: PageSettings) -> list[str]:
    options: dict[str, object] = {"locustfile": LOCUSTFILE, "web-host": place.host, "web-port": place.port}
    options |= {"users": USERS, "spawn-rate": AT_ONCE, "requests": 0}  # the form's initial values
    if place.processes > 1:
        port = free_port()
        options |= {"processes": place.processes, "expect-workers": place.processes}
        options |= {"master-bind-host": "127.0.0.1", "master-bind-port": port, "master-port": port}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "locust", *words]
