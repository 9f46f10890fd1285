"""All users increment at the same time: N requests, as fast as the answers come, or at a fixed rate, also over few connections.

The lab runs this file, headless or in Locust's page. ``locust`` alone works as well: against ``lab up --port 8080``, or with
``--host`` against any server that answers POST /increment.
"""

from __future__ import annotations

from pathlib import Path

from gevent.pool import Pool
from locust import FastHttpUser, events, task

from lab.load.recording import Recording
from lab.load.tickets import Ticket, Tickets, end_when_done, share
from lab.scenario.options import OPTIONS
from lab.ui import locust_plugin

DEFAULTS = {"think_ms": 0, "requests": 5000, "rate": 0.0, "connections": 0, "seed": 1}  # 0: none, or in the page the scenario's
tickets: Tickets | None = None
faults: Path | None = None  # the folder of the run's faults
locust_plugin.attach(events)  # under ``lab ui``, each test is a run of the lab
recording = Recording(events)


@events.init_command_line_parser.add_listener
def add_options(parser):
    for name, default in DEFAULTS.items():
        option = OPTIONS[name]
        parser.add_argument(option.flag, type=option.kind, default=default, help=option.help, include_in_web_ui=option.is_in_form)
    parser.add_argument("--timeout-s", type=float, default=60.0, help="seconds to wait for an answer", include_in_web_ui=False)


@events.test_start.add_listener
def begin(environment, **_):
    global tickets, faults
    options = environment.parsed_options
    Rush.network_timeout = Rush.connection_timeout = options.timeout_s
    faults = recording.path.parent / "faults" if recording.path else None
    tickets = share(environment, options.requests)
    end_when_done(environment, tickets)


class Rush(FastHttpUser):
    host = "http://127.0.0.1:8080"  # the address after `lab up --port 8080`, and in containers
    concurrency = 10_000  # connections of one user: only an open loop needs more than one

    def wait_time(self):
        return self.environment.parsed_options.think_ms / 1000

    @task
    def drive(self):
        options = self.environment.parsed_options
        if options.rate:
            share_of_rate = options.rate / options.expect_workers
            # while the pool is full, the next request is late
            sent = Pool(max(1, options.connections // options.expect_workers) if options.connections else None)
            try:
                for ticket in tickets.arrivals(share_of_rate, options.seed, faults):
                    sent.spawn(self.increment, ticket)
                tickets.take()
            finally:
                sent.kill()  # requests of a stopped test must not count for the next one
        self.increment(tickets.take())

    def increment(self, ticket: Ticket) -> None:
        headers = {"X-Request-ID": ticket.request_id}
        recording.send(ticket.request_id, ticket.intended_ns, lambda: self.client.post("/increment", headers=headers))
        tickets.done()
