"""The clients: each sends one increment to its own replica, directly."""

from __future__ import annotations

import http.client
import json
import threading
from pathlib import Path
from time import monotonic_ns

from lab.evidence.history import REQUESTS, Recorder, Request, outcome_of
from lab.servers.server import Server


class Client(threading.Thread):
    """One request, from its start to its record."""

    def __init__(self, request: str, replica: Server, folder: Path, timeout_s: float) -> None:
        super().__init__(name=f"client {request}", daemon=True)
        self.request, self.replica, self.timeout_s = request, replica, timeout_s
        self.recorder = Recorder(folder / REQUESTS)

    def run(self) -> None:
        start_ns = monotonic_ns()
        status, name, value = 0, "", None
        connection = http.client.HTTPConnection(self.replica.host, self.replica.port, timeout=self.timeout_s)
        try:
            connection.request("POST", "/increment", headers={"X-Request-ID": self.request})
            response = connection.getresponse()
            status, about = response.status, json.loads(response.read())
            name, value = about.get("replica", ""), about.get("value")
        except (OSError, http.client.HTTPException, ValueError):
            pass  # no answer, or half of one: the outcome is unknown
        finally:
            connection.close()
        outcome = outcome_of(status, name)
        self.recorder.record(Request(self.request, start_ns, start_ns, monotonic_ns(), outcome, status, name, value))
