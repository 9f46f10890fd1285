"""All users increment at the same time: N requests, as fast as the answers come, or at a fixed rate, also over few connections.

The lab runs this file, headless or in Locust's page. ``locust`` alone works as well: against ``lab up --port 8080``, or with
``--host`` against any server that answers POST /increment.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import monotonic_ns

import msgspec
from gevent.pool import Group
from locust import FastHttpUser, events, task
from locust.runners import WorkerRunner

from lab.errors import ExitStatus, in_short
from lab.evidence.history import Outcome, Recorder, Request, outcome_of
from lab.interrupts import end_with_parent
from lab.load.tickets import Ticket, Tickets, end_when_done, share
from lab.ui import locust_plugin


class Answer(msgspec.Struct, gc=False):
    replica: str = ""
    value: int | None = None
    sold_out: bool = False


def answer_of(body: bytes | None) -> Answer:
    try:
        return decode(body or b"{}")
    except msgspec.DecodeError:
        return Answer()  # not an answer of the counter, but a proxy's error page


decode = msgspec.json.Decoder(Answer).decode
recorder: Recorder | None = None
tickets: Tickets | None = None
faults: Path | None = None  # the folder of the run's faults
worker_of_this_machine = False  # started by the master, and not in a container of its own
locust_plugin.attach(events)  # under ``lab ui``, each test is a run of the lab


@events.init_command_line_parser.add_listener
def add_options(parser):
    parser.add_argument(
        "--requests",
        type=int,
        default=5000,
        help="number of requests, over all processes (0 in the lab's page: the scenario's own number)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=0.0,
        help="Requests that arrive per second, even if answers are slow. 0: each user waits for its answer.",
    )
    parser.add_argument(
        "--connections",
        type=int,
        default=0,
        help="with a rate: users that share the arrivals, each with one request at a time (0: no limit)",
        include_in_web_ui=False,
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed of the arrivals", include_in_web_ui=False)
    parser.add_argument("--timeout-s", type=float, default=60.0, help="seconds to wait for an answer", include_in_web_ui=False)
    parser.add_argument("--record", default="", help="file to which a line is appended for each request", include_in_web_ui=False)


@events.init.add_listener
def stay_with_master(environment, **_):
    global worker_of_this_machine
    if isinstance(environment.runner, WorkerRunner) and environment.parsed_options.processes:
        worker_of_this_machine = True
        end_with_parent()


@events.test_start.add_listener
def begin(environment, **_):
    global recorder, tickets, faults
    options = environment.parsed_options
    Rush.network_timeout = Rush.connection_timeout = options.timeout_s
    record = os.environ.get("LAB_RECORD") or options.record
    recorder = Recorder(Path(record)) if record else None
    faults = Path(record).parent / "faults" if record else None
    tickets = share(environment, options.requests)
    end_when_done(environment, tickets)


def record(request: Request) -> None:
    """Record a request, or end Locust: what follows would not be on record."""
    try:
        recorder.record(request)
    except OSError as error:
        sys.stderr.write(f"error: {in_short(error)}\n")
        sys.stderr.flush()
        if worker_of_this_machine:
            os.kill(os.getppid(), signal.SIGKILL)  # the master would wait for this worker
        os._exit(ExitStatus.CANNOT_WRITE)


class Rush(FastHttpUser):
    host = "http://127.0.0.1:8080"  # as of `lab up --port 8080`, and in containers
    concurrency = 10_000  # connections of one user: only an open loop needs more than one

    @task
    def drive(self):
        options = self.environment.parsed_options
        if options.rate:
            share_of_rate = options.rate / max(1, options.expect_workers if options.processes else 1)
            if options.connections:
                self.increment(tickets.arrival(share_of_rate, options.seed))
                return
            sent = Group()
            try:
                for ticket in tickets.arrivals(share_of_rate, options.seed, faults):
                    sent.spawn(self.increment, ticket)
                tickets.take()
            finally:
                sent.kill()  # requests of a stopped test must not count for the next one
        self.increment(tickets.take())

    def increment(self, ticket: Ticket) -> None:
        start_ns = monotonic_ns()
        intended_ns = min(ticket.intended_ns, start_ns)
        status, body = 0, None  # recorded so when the test is stopped before the answer
        try:
            response = self.client.post("/increment", headers={"X-Request-ID": ticket.request_id})
            status, body = response.status_code or 0, response.content
        finally:
            end_ns = monotonic_ns()
            if recorder is not None:
                answer = answer_of(body)
                outcome = outcome_of(status, answer.replica, answer.sold_out)
                value = answer.value if outcome is Outcome.ACKNOWLEDGED else None
                times = intended_ns, start_ns, end_ns
                record(Request(ticket.request_id, *times, outcome, status, answer.replica, value))
        tickets.done()
