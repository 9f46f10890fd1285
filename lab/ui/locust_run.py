"""One press of Start in Locust's page: the requests of Locust's process to the lab, and the run that it asks for.

The questions and answers are described in ``lab/ui/locust_plugin.py``, Locust's side.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import abort, request

from lab.errors import BadInput
from lab.load.locust import LoadFailed
from lab.run.runner import CutShort, Drive
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster
from lab.ui.both_sides import SENT_KEY
from lab.ui.joining import is_equal
from lab.ui.locust_process import LocustProcess, NotStarted
from lab.ui.posted import RunRequest, offered, read

STOPPED_WITHIN_S = 5.0
QUIET_WITHIN_S = 5.0
GONE = "Locust has ended in the middle of the run"
Check = Callable[[Mapping[str, str]], RunRequest]


@dataclass
class LocustRun:
    """A run that Locust's page requests."""

    form: Mapping[str, str]  # the form's fields
    # the two answers that Locust waits for: the plan when the servers are up, and the verdict when the run is drawn
    plan: Future[dict[str, Any]] = field(default_factory=Future)
    verdict: Future[dict[str, Any]] = field(default_factory=Future)
    ended: threading.Event = field(default_factory=threading.Event)  # set when nothing more is sent
    complete: bool = False  # all requests were sent and answered

    def refuse(self, why: str) -> None:
        """Tell Locust that there is no run, or no verdict."""
        for answer in (self.plan, self.verdict):
            if not answer.done():
                answer.set_result({"refused": why})


class Orders:
    """Answers Locust's process, and refuses every request without the key. It puts requested runs into ``runs``.

    check: parses a form, and raises BadInput for a form that cannot be run. offer: returns the
    choices of the form's drop-downs.
    """

    def __init__(self, check: Check = read, offer: Callable[[], dict[str, Any]] = offered) -> None:
        self.key = secrets.token_urlsafe(18)
        self.runs: queue.Queue[LocustRun] = queue.Queue()
        self._check = check
        self._answers: dict[str, Callable[..., dict[str, Any]]] = {
            "shelf": offer,
            "check": self._checked,
            "run": self._begin,
            "ended": self._end,
        }
        self._run = LocustRun({})

    def answer(self, order: str) -> dict[str, Any]:
        """Answer an order of the page. Raises BadInput."""
        if not is_equal(request.headers.get(SENT_KEY, ""), self.key) or order not in self._answers:
            abort(403)
        return self._answers[order](**request.get_json())

    def _checked(self, form: Mapping[str, str]) -> dict[str, Any]:
        try:
            scenario = self._check(form).scenario
            return {"user_count": scenario.locust_users, "spawn_rate": scenario.spawn_rate or scenario.locust_users}
        except BadInput:
            raise
        except Exception as error:  # noqa: BLE001 - for example, a stage's file that cannot be imported
            return {"refused": failure(error)}

    def _begin(self, form: Mapping[str, str]) -> dict[str, Any]:
        self._run = run = LocustRun(form)
        self.runs.put(run)
        return run.plan.result()

    def _end(self, complete: bool) -> dict[str, Any]:
        self._run.complete = complete
        self._run.ended.set()
        return self._run.verdict.result()


def failure(error: Exception) -> str:
    """Return the message for Locust if the lab failed, and not the form."""
    return f"the lab itself failed: {type(error).__name__}: {error}"


def drive_by_page(run: LocustRun, scenario: Scenario, page: LocustProcess, follow: Callable[..., None]) -> Drive:
    """Return the drive of this run: Locust gets the servers' address, and reports when it has
    ended.

    follow: called just before requests are sent, with the run's folder, and by replica how many nanoseconds its clock is ahead.
    """

    def drive(system: Cluster, folder: Path, is_well: Callable[[], bool]) -> None:
        record = folder / "requests.jsonl"
        record.touch()
        clock_of, readings = (system.clocks.clock_of, system.clocks.readings) if system.clocks else ({}, {})
        follow(folder, {name: readings[clock][0].ahead_ns for name, clock in clock_of.items() if clock})
        where = {"host": f"http://{system.address}", "record": str(record)}
        load = {"requests": scenario.requests, "rate": scenario.rate or 0.0, "seed": scenario.seed}
        load |= {"connections": scenario.connections or 0, "think_ms": scenario.think_ms}
        run.plan.set_result(where | load | {"timeout_s": scenario.request_timeout_s})
        try:
            reason = _watch(run, page, is_well)
            if reason and page.runs:
                threading.Thread(target=_stop, args=(page,), daemon=True).start()  # Locust answers when the run is judged
                if not run.ended.wait(STOPPED_WITHIN_S):
                    page.kill()
        except KeyboardInterrupt:
            page.kill()  # otherwise Locust would continue to record
            raise
        if reason == GONE:
            raise LoadFailed(GONE)
        if not is_well():
            return
        if reason:
            raise LoadFailed(reason)
        if not run.complete:
            system.quiet(QUIET_WITHIN_S)  # so that requests in flight are written before the counter is read
            raise CutShort

    return drive


def _stop(page: LocustProcess) -> None:
    with contextlib.suppress(NotStarted):
        page.client.stop()


def _watch(run: LocustRun, page: LocustProcess, is_well: Callable[[], bool]) -> str:
    """Wait until Locust reports its end, and return an empty string; or return the reason why the
    run must end early.
    """
    while not run.ended.wait(0.02):
        if not is_well():
            return "a server has ended in the middle of the run"
        if not page.runs:
            return GONE
    return ""
