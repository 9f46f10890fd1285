"""Locust with its web page in a process of its own: start it, watch it, and use its page as a visitor does."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlencode

from lab.errors import LabError, NotReady
from lab.load.locust import environment
from lab.paths import HOME, LOCUSTFILE
from lab.servers.ports import free_port
from lab.servers.process import last_words
from lab.servers.supervisor import Supervisor
from lab.ui.addresses import from_here
from lab.ui.both_sides import KEY, LIVE, ORDERS_KEY
from lab.ui.joining import as_teacher
from lab.ui.posted import AT_ONCE, USERS

UP_WITHIN_S = 90.0  # it imports much: on an idle machine it takes two seconds, on a crowded one often twenty


@dataclass(frozen=True)
class PageSettings:
    """The address of the pages, and how they are served."""

    host: str  # the address to listen on
    port: int  # the port of Locust's page
    live_port: int  # the port of the lab's own page
    key: str = ""  # the teacher's key; empty if no visitor needs one
    processes: int = 1  # how many processes send the requests

    @property
    def address(self) -> str:
        """Return the address of Locust's page, with the teacher's key if there is one."""
        return self._address(self.port)

    @property
    def live_address(self) -> str:
        """Return the address of the lab's own page, with the teacher's key if there is one."""
        return self._address(self.live_port)

    @property
    def live(self) -> str:
        """Return the address of the lab's own pages, as Locust reaches them."""
        return f"http://{from_here(self.host)}:{self.live_port}"

    def _address(self, port: int) -> str:
        return f"http://{from_here(self.host)}:{port}/" + (f"?{urlencode({'k': self.key})}" if self.key else "")


class LocustProcess:
    """Locust's process, with its page."""

    def __init__(self, supervisor: Supervisor, place: PageSettings, orders_key: str, log: Path) -> None:
        self.place = place
        self.client = LocustClient(place.host, place.port, as_teacher(place.live_port, place.key))
        self._supervisor = supervisor
        self._log = log
        env = environment() | {LIVE: place.live, KEY: place.key, ORDERS_KEY: orders_key}
        self._pid = supervisor.start(_argv(place), env, HOME, log)

    def wait(self) -> None:
        """Wait until this page answers (and not another program on its port) with all its workers.
        Raises NotReady.
        """
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            self.check()
            with contextlib.suppress(NotStarted):
                answer = self.client.ask("GET", "/lab", within_s=1)
                if answer.get("live") == self.place.live and answer.get("ready"):
                    return
            time.sleep(0.02)
        raise NotReady(f"Locust's page did not come up at port {self.place.port}; the end of its log:\n{last_words(self._log)}")

    @property
    def runs(self) -> bool:
        """Return whether Locust runs."""
        return self._supervisor.exit_of(self._pid) is None

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


ANSWER_WITHIN_S = 15.0  # Locust itself asks the lab, for ten seconds at most
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class NotStarted(LabError):  # noqa: N818 - an event
    """Locust, or the lab behind it, refuses; the message is the reason."""


class LocustClient:
    """A visitor of Locust's page on this host. cookie: the header with the teacher's key."""

    def __init__(self, host: str, port: int, cookie: Mapping[str, str]) -> None:
        self._host, self._port, self._headers = from_here(host), port, {**FORM, **cookie}

    def start(self, stage: str, scenario: str, values: Mapping[str, str] = MappingProxyType({})) -> None:
        """Post Locust's form. Raises NotStarted, as the form shows it above its button.

        values: of the form's other fields, if they are not the scenario's own.
        """
        form = {"stage": stage, "scenario": scenario, "user_count": str(USERS), "spawn_rate": str(AT_ONCE), **values}
        answer = self.ask("POST", "/swarm", form)
        if not answer.get("success"):
            raise NotStarted(str(answer.get("message", "Locust gave no reason")))

    def stop(self) -> None:
        """End the run under way. Raises NotStarted."""
        self.ask("POST", "/stop")

    def ask(
        self, method: str, path: str, form: Mapping[str, str] = MappingProxyType({}), within_s: float = ANSWER_WITHIN_S
    ) -> dict[str, object]:
        """Return the answer of Locust's page. Raises NotStarted."""
        try:
            with closing(HTTPConnection(self._host, self._port, timeout=within_s)) as line:
                line.request(method, path, urlencode(form), self._headers)
                answer: dict[str, object] = json.load(line.getresponse())
                return answer
        except (OSError, HTTPException, ValueError) as error:
            raise NotStarted(f"Locust does not answer: {error}") from error
