"""Start and Stop from the lab's own page: the same requests that Locust's page sends, so Locust stays the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from types import MappingProxyType
from urllib.parse import urlencode

from lab.errors import LabError
from lab.ui.run_form import AT_ONCE, USERS

ANSWER_WITHIN_S = 15.0  # Locust itself asks the lab, for ten seconds at most
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class NotStarted(LabError):  # noqa: N818 - states what happened
    """Locust, or the lab behind it, refuses; the message is the reason."""


class LocustClient:
    """A visitor of Locust's page. cookie: the header with the teacher's key."""

    def __init__(self, host: str, port: int, cookie: Mapping[str, str]) -> None:
        self._host, self._port, self._headers = host, port, {**FORM, **cookie}

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
                line.request("POST", path, urlencode(form), self._headers)
                answer: dict[str, object] = json.loads(line.getresponse().read())
                return answer
        except (OSError, HTTPException, ValueError) as error:
            raise NotStarted(f"Locust does not answer: {error}") from error
