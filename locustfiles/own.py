"""Let a user's own locustfile drive the run: number and record each ``POST /increment`` that it sends, however it sends them.

The lab loads this file before the user's (``locust -f own.py,theirs.py``). It defines no user. Without ``--record``, Locust only
prints the facts about the user's file that the lab needs, and ends.
"""

from __future__ import annotations

import json
import os
from functools import wraps
from pathlib import Path
from urllib.parse import urlsplit

import gevent
from locust import events, main
from locust.clients import HttpSession
from locust.contrib.fasthttp import FastHttpSession
from locust.runners import WorkerRunner

from lab.load.recording import Recording
from lab.load.tickets import Tickets, share

HEADER = "X-Request-ID"
main.load_locustfile_pytest = lambda path: {}  # if no file has a user, Locust would let pytest load them all, this one again
recording = Recording(events)
tickets: Tickets | None = None  # without a limit
counter = ""  # the counter's host and port


@events.init.add_listener
def look(environment, **_):
    options, shape = environment.parsed_options, environment.shape_class
    if not options.record:
        facts = {"name": type(shape).__name__, "takes_options": shape.use_common_options} if shape else {}
        os.write(1, f"\n{json.dumps(facts)}\n".encode())
        os._exit(0)
    environment.locustfile = Path(environment.parsed_locustfiles[-1]).name  # Locust's report names the first file


@events.test_start.add_listener
def begin(environment, **_):
    global tickets, counter
    runner, run_time_s = environment.runner, environment.parsed_options.run_time
    tickets, counter = share(environment, 0), urlsplit(environment.host).netloc
    if environment.shape_class and run_time_s and not isinstance(runner, WorkerRunner):  # Locust itself lets a shape go on
        gevent.spawn_later(run_time_s, runner.quit)


@events.quitting.add_listener
def end_well(environment, **_):
    """Ignore the exit status that the user's file gives to failures: the lab judges the run, and reads the status of Locust."""
    environment.process_exit_code = 0


def recorded(plain):
    """Wrap the ``request`` method of a session: it numbers and records the requests to the counter."""

    @wraps(plain)
    def request(session, method, url, *args, **options):
        place = urlsplit(url if urlsplit(url).netloc else f"{session.base_url}{url}")
        if (method.upper(), place.netloc, place.path) != ("POST", counter, "/increment"):
            return plain(session, method, url, *args, **options)
        ticket = tickets.take()
        headers = {key: value for key, value in (options.pop("headers", None) or {}).items() if key.lower() != HEADER.lower()}
        options["headers"] = {**headers, HEADER: ticket.request_id}
        return recording.send(ticket.request_id, ticket.intended_ns, lambda: plain(session, method, url, *args, **options))

    return request


for session in (HttpSession, FastHttpSession):
    session.request = recorded(session.request)
