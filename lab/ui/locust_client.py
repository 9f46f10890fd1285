"""Start and Stop from the lab's own page: the same requests that Locust's page sends, so Locust stays the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse
from types import MappingProxyType
from urllib.parse import urlencode

from lab.errors import LabError
from lab.ui.run_form import AT_ONCE, USERS

ANSWER_WITHIN_S = 15.0  # Locust itself asks the lab, for ten seconds at most
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class NotStarted(LabError):  # noqa: N818 - states what happened
    """Locust, or the lab behind it, refuses; the message is the reason."""


class LocustClient:
    """A visitor of Locust's page. password: that of the page; none if empty."""

    def __init__(self, host: str, port: int, password: str = "") -> None:
        self._host, self._port, self._password = host, port, password

    def start(self, stage: str, scenario: str, values: Mapping[str, str] = MappingProxyType({})) -> None:
        """Post Locust's form. Raises NotStarted, as the form shows it above its button.

        values: of the form's other fields, where they are not the scenario's own.
        """
        form = {"stage": stage, "scenario": scenario, "user_count": str(USERS), "spawn_rate": str(AT_ONCE), **values}
        answer = self._post("/swarm", form)
        if not answer.get("success"):
            raise NotStarted(str(answer.get("message", "Locust gave no reason")))

    def stop(self) -> None:
        """End the run under way. Raises NotStarted."""
        self._post("/stop", {})

    def _post(self, path: str, form: Mapping[str, str]) -> dict[str, object]:
        try:
            with closing(HTTPConnection(self._host, self._port, timeout=ANSWER_WITHIN_S)) as line:
                cookies = self._log_in(line) if self._password else {}
                line.request("POST", path, urlencode(form), FORM | cookies)
                answer: dict[str, object] = json.loads(line.getresponse().read())
                return answer
        except (OSError, HTTPException, ValueError) as error:
            raise NotStarted(f"Locust does not answer: {error}") from error

    def _log_in(self, line: HTTPConnection) -> dict[str, str]:
        line.request("POST", "/lab/login", urlencode({"username": "lab", "password": self._password}), FORM)
        answer = line.getresponse()
        answer.read()
        return {"Cookie": _cookies(answer)}


def _cookies(answer: HTTPResponse) -> str:
    return "; ".join(one.partition(";")[0] for one in answer.headers.get_all("Set-Cookie", []))
