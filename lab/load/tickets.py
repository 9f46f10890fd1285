"""Send exactly N requests, over any number of Locust processes, and end the test when all requests have ended.

Locust cannot do this (its issues 512 and 1085). So each process that sends requests gets its share of N tickets. A task takes a
ticket before it sends a request; if no ticket is left, it sleeps until the end of the test. Taking a ticket is one ``next()`` on
an iterator. No other greenlet can run in it, so it is atomic. A worker reports when all of its requests have ended. When all
workers have reported, the test is stopped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic_ns
from typing import Any, NoReturn

import gevent
from gevent.event import Event
from locust import runners
from locust.runners import MasterRunner, WorkerRunner

from app.failpoints import is_first_to_come

# seconds: a busy machine can delay a worker's heartbeats beyond Locust's three, and then Locust ends the test
runners.HEARTBEAT_LIVENESS = 20
DONE = "tickets_done"
AHEAD = 10  # the most requests under way before the first fault, in all processes
HELD_NS = 20_000_000_000  # the longest time in all: a lock that is never granted does not come to its fault
LOOK_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request."""

    number: int  # the request's number in the whole run
    intended_ns: int  # when the request should be sent

    @property
    def request_id(self) -> str:
        return f"r{self.number}"


class Tickets:
    """One process's share of a run's requests."""

    def __init__(self, requests: int, index: int = 0, processes: int = 1) -> None:
        """Take every ticket of a run whose number is index, index + processes, …

        requests: how many the run has; 0: no limit. index: the number of this process among ``processes``, counted from 0.
        """
        self._numbers: Iterator[int] = iter(range(index, requests, processes)) if requests else count(index, processes)
        self._open = len(range(index, requests, processes)) if requests else -1  # it never comes down to 0
        self._ahead = max(1, AHEAD // processes)
        self._index = index
        self._arriving = False
        self._due_ns = 0  # when the latest arrival was due
        self._on_their_way = 0  # how many arrivals are under way
        self._held_ns = 0  # how many nanoseconds the clock of the arrivals has stood still
        self.all_done = Event()
        if self._open == 0:
            self.all_done.set()

    def take(self) -> Ticket:
        """Return the next ticket. If none is left, sleep until the test is stopped."""
        number = next(self._numbers, None)
        if number is None:
            sleep_for_good()
        return Ticket(number, monotonic_ns())

    def arrivals(self, rate_per_s: float, seed: int, faults: Path | None = None) -> Any:
        """Yield tickets at random arrivals (Poisson) of this rate, whatever the answers. Sleep until each is due.

        The first user of a process gets all tickets, and the other users sleep, because each would add the whole rate again.

        faults: the folder of the run's faults. The requests shall meet a fault, which comes after a number of grants and not at a
        time. So until the first fault has begun, the clock of the arrivals stands still while too many requests wait for answers,
        as on a busy machine: this process's share of AHEAD.
        """
        if self._arriving:
            sleep_for_good()
        self._arriving = True
        gaps = random.Random(seed + (self._index << 32))  # noqa: S311 - reproducible, no secret; each process has its own gaps
        self._due_ns = monotonic_ns()
        for number in self._numbers:
            if faults is not None:
                self._hold(faults)
            self._due_ns += int(gaps.expovariate(rate_per_s) * 1e9)
            gevent.sleep(max(0, self._due_ns - monotonic_ns()) / 1e9)
            self._on_their_way += 1
            yield Ticket(number, self._due_ns)

    def _hold(self, faults: Path) -> None:
        """Wait while too many requests are under way before the first fault. The next arrivals are due later by this time."""
        while self._on_their_way >= self._ahead and self._held_ns < HELD_NS and is_first_to_come(faults):
            since_ns = monotonic_ns()
            gevent.sleep(LOOK_EVERY_S)
            past_ns = monotonic_ns() - since_ns
            self._held_ns += past_ns
            self._due_ns += past_ns

    def done(self) -> None:
        """Count one request that has ended, with any outcome."""
        self._open -= 1
        self._on_their_way -= 1
        if self._open == 0:
            self.all_done.set()


def sleep_for_good() -> NoReturn:
    """Sleep until the test is stopped, which ends its users."""
    while True:
        gevent.sleep(3600)


def share(environment: Any, requests: int) -> Tickets | None:
    """Return this process's tickets for the test that starts now; None on a master, which sends no requests."""
    runner = environment.runner
    if isinstance(runner, WorkerRunner):
        return Tickets(requests, runner.worker_index, environment.parsed_options.expect_workers)
    return None if isinstance(runner, MasterRunner) else Tickets(requests)


def end_when_done(environment: Any, tickets: Tickets | None) -> None:
    """Stop the test when each process has sent its tickets and received its answers. Call it once for each test and process."""
    runner = environment.runner
    runner.lab_tickets = tickets
    if tickets is None:
        runner.lab_done, runner.lab_expected = set(), len(runner.clients)
        if DONE not in runner.custom_messages:
            runner.register_message(DONE, _count_worker)
        return

    def wait() -> None:
        tickets.all_done.wait()
        if runner.lab_tickets is not tickets:
            return  # these tickets belong to an earlier test, which was stopped before its end
        if isinstance(runner, WorkerRunner):
            runner.send_message(DONE, {"worker": runner.client_id})
        else:
            _end(environment)

    gevent.spawn(wait)


def complete(runner: Any) -> bool:
    """Return whether all tickets of the test were used and answered, in every process."""
    if isinstance(runner, MasterRunner):
        return 0 < getattr(runner, "lab_expected", 0) <= len(runner.lab_done)
    return runner.lab_tickets is not None and runner.lab_tickets.all_done.is_set()


def _count_worker(environment: Any, msg: Any, **_: Any) -> None:
    """Count, on the master, a worker whose requests have all ended. After the last one, end the test."""
    runner = environment.runner
    runner.lab_done.add(msg.data["worker"])
    if len(runner.lab_done) >= runner.lab_expected:
        gevent.spawn(_end, environment)


def _end(environment: Any) -> None:
    if environment.web_ui is None:
        environment.runner.quit()
    else:
        environment.runner.stop()
