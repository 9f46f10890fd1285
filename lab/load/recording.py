"""Send a request of the counter from a locustfile, and record it: also if it is never answered, and until Locust has ended."""

from __future__ import annotations

import csv
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import POLLIN
from time import monotonic_ns
from typing import Any

import gevent
import msgspec
from gevent import GreenletExit, monkey
from geventhttpclient.connectionpool import ConnectionPool
from locust.runners import WorkerRunner
from locust.stats import PERCENTILES_TO_REPORT, StatsCSV

from app.journal import LineFile
from lab.errors import ExitStatus, in_short
from lab.evidence.history import Outcome, Request, outcome_of
from lab.interrupts import end_with_parent


class Answer(msgspec.Struct, gc=False):
    replica: str = ""
    value: int | None = None
    sold_out: bool = False


decode = msgspec.json.Decoder(Answer).decode


def is_open(_: ConnectionPool, sock: Any) -> bool:
    """Return whether an idle connection can be used again: the server has neither closed it nor sent anything."""
    poll = monkey.get_original("select", "poll")()
    poll.register(sock, POLLIN)
    return not poll.poll(0)


# the library asks select(2), which knows only the first 1024 files of a process: all further users would connect anew each time
ConnectionPool._is_socket_alive = is_open  # type: ignore[method-assign, assignment] # noqa: SLF001


class Recording:
    """Record the requests of one Locust process. ``path`` is the file during a test; None if the lab needs no record."""

    def __init__(self, events: Any) -> None:
        """Add the option ``--record`` to Locust, and listen to its events. events: Locust's events."""
        self.path: Path | None = None
        self._file: LineFile | None = None
        self._open: dict[str, tuple[int, int]] = {}  # by the name of a request without an answer: when it was due and sent
        self._is_over = False
        self._local_worker = False  # started by the master, and not in a container of its own
        events.init_command_line_parser.add_listener(self._add_option)
        events.init.add_listener(self._prepare)
        events.test_start.add_listener(self._begin)
        events.quitting.add_listener(self._complete_tables)
        events.quit.add_listener(self._end)

    def send(self, request_id: str, intended_ns: int, send: Callable[[], Any]) -> Any:
        """Send a request by calling ``send``, record it, and return Locust's response.

        intended_ns: when it should have been sent. If it is ended before its answer, its outcome is unknown, and its status 0.
        """
        if self._is_over:
            raise GreenletExit  # the request would not be on record
        start_ns = monotonic_ns()
        self._open[request_id] = min(intended_ns, start_ns), start_ns
        status, body = 0, None
        try:
            response = send()
            status, body = response.status_code or 0, response.content
            return response
        finally:
            self._record(request_id, status, body)

    def _record(self, request_id: str, status: int = 0, body: bytes | None = None) -> None:
        end_ns = monotonic_ns()
        times = self._open.pop(request_id, None)
        if self._file is None or times is None:
            return
        try:
            answer = decode(body or b"{}")
        except msgspec.DecodeError:
            answer = Answer()  # not an answer of the counter, but a proxy's error page
        outcome = outcome_of(status, answer.replica, answer.sold_out)
        value = answer.value if outcome is Outcome.ACKNOWLEDGED else None
        with self._written():
            worker = os.environ.get("LAB_WORKER", "")  # in a container
            self._file.append(Request(request_id, *times, end_ns, outcome, status, answer.replica, value, worker))

    @contextmanager
    def _written(self) -> Iterator[None]:
        """End Locust if a file cannot be written in the block: later requests would not be on record."""
        try:
            yield
        except OSError as error:
            sys.stderr.write(f"error: {in_short(error)}\n")
            sys.stderr.flush()
            if self._local_worker:
                os.kill(os.getppid(), signal.SIGKILL)  # the master would wait for this worker
            os._exit(ExitStatus.CANNOT_WRITE)

    def _add_option(self, parser: Any) -> None:
        parser.add_argument("--record", default="", help="file that gets a line for each request", include_in_web_ui=False)

    def _prepare(self, environment: Any, **_: Any) -> None:
        gevent.get_hub().loop.update_now()  # the run time would begin when the fork server last looked at its clock
        if isinstance(environment.runner, WorkerRunner) and environment.parsed_options.processes:
            self._local_worker = True
            end_with_parent()

    def _begin(self, environment: Any, **_: Any) -> None:
        path = os.environ.get("LAB_RECORD") or environment.parsed_options.record
        self.path = Path(path) if path else None
        self._file = LineFile(self.path) if self.path else None

    def _complete_tables(self, environment: Any, **_: Any) -> None:
        """Write Locust's tables again, with the requests of the last second: Locust itself writes them once a second."""
        options = environment.parsed_options
        if not (options.csv_prefix and options.record):
            return
        tables = StatsCSV(environment, PERCENTILES_TO_REPORT)
        by_name = {"stats": tables.requests_csv, "failures": tables.failures_csv, "exceptions": tables.exceptions_csv}
        for name, write in by_name.items():
            path = Path(f"{options.csv_prefix}_{name}.csv")
            path.unlink(missing_ok=True)  # Locust still writes to the old file
            with self._written(), path.open("w", newline="") as file:
                write(csv.writer(file))

    def _end(self, **_: Any) -> None:
        """Record the requests that are still without an answer: a locustfile's own greenlets outlive its users."""
        self._is_over = True
        for request_id in list(self._open):
            self._record(request_id)
