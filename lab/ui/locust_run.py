"""One press of Start in Locust's page, and the drive of the run that it requests."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.load.locust import PATIENCE_S, LoadFailed
from lab.run.runner import CutShort, Drive
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster

STOPPED_WITHIN_S = 5.0
QUIET_WITHIN_S = 5.0


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
