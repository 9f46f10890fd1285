"""One press of Start in Locust's page, and the drive of the run that it asks for."""

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
    """The form, and the line on which Locust is told about its run.

    ended: nothing more is sent, because Locust said so (``complete``: all was) or because it is gone (``lost``).
    """

    form: Mapping[str, str]
    line: Any
    ended: threading.Event = field(default_factory=threading.Event)
    complete: bool = False
    lost: bool = False

    def say(self, **message: Any) -> None:
        """Tell Locust, if it is still there."""
        with contextlib.suppress(OSError, ValueError):
            self.line.write(json.dumps(message).encode() + b"\n")


def drive_by_page(run: LocustRun, scenario: Scenario, kill: Callable[[], None], follow: Callable[[Path], None]) -> Drive:
    """The drive of this run: Locust is told where the servers are, and says when it has ended.

    kill: ends Locust at once. follow: called with the run's folder when requests are about to be sent.
    """

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        record = folder / "requests.jsonl"
        record.touch()
        follow(folder)
        where = {"host": f"http://{system.address}", "record": str(record)}
        what = {"requests": scenario.requests, "rate": scenario.rate or 0.0, "seed": scenario.seed}
        run.say(plan=where | what | {"timeout_s": scenario.request_timeout_s})
        try:
            trouble = _watch(run, record, scenario, well)
            if trouble:
                run.say(stop=trouble)
                if not run.ended.wait(STOPPED_WITHIN_S):
                    kill()
        except KeyboardInterrupt:
            kill()  # or it would go on recording
            raise
        if run.lost:
            raise LoadFailed("Locust is gone")
        if not well():
            return
        if trouble:
            raise LoadFailed(trouble)
        if not run.complete:
            system.quiet(QUIET_WITHIN_S)  # or the counter would be read before what was on its way has been written
            raise CutShort("stopped by hand")

    return drive


def _watch(run: LocustRun, record: Path, scenario: Scenario, well: Callable[[], bool]) -> str:
    """Wait until Locust says that it has ended; or the reason why it has to be told to."""
    size, moved_s = 0, time.monotonic()
    while not run.ended.wait(0.02):
        if not well():
            return "a server has ended in the middle of the run"
        if (now := record.stat().st_size) > size:
            size, moved_s = now, time.monotonic()
        if time.monotonic() - moved_s > scenario.request_timeout_s + PATIENCE_S:
            return f"no answer for {time.monotonic() - moved_s:.0f} s"
    return ""
