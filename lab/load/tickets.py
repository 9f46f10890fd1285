"""Exactly N requests, over however many Locust processes, and a run that ends by itself.

Locust has no such thing (its issues 512 and 1085), so each process that drives load gets its share of N tickets; a task
takes one before it sends and sleeps for good when none is left. Taking one is a check and a decrement with no switch of
greenlets between them, so it is atomic. When all of a process's requests have ended it says so; when all processes have,
the test is stopped.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any, NoReturn

import gevent
from gevent.event import Event
from locust.runners import MasterRunner, WorkerRunner

DONE = "tickets_done"


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request: its number in the whole run, and when it should be sent."""

    number: int
    intended_ns: int

    @property
    def request_id(self) -> str:
        return f"r{self.number}"


class Tickets:
    """One process's share of a run's requests."""

    def __init__(self, requests: int, index: int = 0, processes: int = 1) -> None:
        """index: of this process among ``processes``; its tickets are index, index + processes, …"""
        self._numbers = iter(range(index, requests, processes))
        self._open = len(range(index, requests, processes))
        self._arriving = False
        self.all_done = Event()
        if self._open == 0:
            self.all_done.set()

    def take(self) -> Ticket:
        """The next ticket; when none is left, sleep until the test is stopped."""
        number = next(self._numbers, None)
        if number is None:
            sleep_for_good()
        return Ticket(number, monotonic_ns())

    def arrivals(self, rate_per_s: float, seed: int) -> Any:
        """Tickets at random arrivals (Poisson) of this rate, whatever the answers do; sleeps until each is due.

        The first user of a process to ask gets all of them, and the others sleep: each would add the whole rate again.
        """
        if self._arriving:
            sleep_for_good()
        self._arriving = True
        gaps = random.Random(seed)  # noqa: S311 - reproducible arrivals, no secret
        due_ns = monotonic_ns()
        for number in self._numbers:
            due_ns += int(gaps.expovariate(rate_per_s) * 1e9)
            if (rest_ns := due_ns - monotonic_ns()) > 0:
                gevent.sleep(rest_ns / 1e9)
            yield Ticket(number, due_ns)

    def done(self) -> None:
        """One request has ended, however it ended."""
        self._open -= 1
        if self._open == 0:
            self.all_done.set()


def sleep_for_good() -> NoReturn:
    """Until the test is stopped, which kills its users."""
    while True:
        gevent.sleep(3600)


def share(environment: Any, requests: int) -> Tickets | None:
    """This process's tickets for the test that starts; None on a master, which drives no load."""
    runner = environment.runner
    if isinstance(runner, MasterRunner):
        return None
    if isinstance(runner, WorkerRunner):
        return Tickets(requests, runner.worker_index, environment.parsed_options.expect_workers)
    return Tickets(requests)


def end_when_done(environment: Any, tickets: Tickets | None) -> None:
    """Stop the test when every process has sent its tickets and had its answers. Call once a test, on every process."""
    runner = environment.runner
    runner.lab_tickets = tickets
    if tickets is None:
        _Tally.of(runner).start(len(runner.clients), lambda: _end(environment))
        return

    def wait() -> None:
        tickets.all_done.wait()
        if runner.lab_tickets is not tickets:
            return  # of a test that was stopped before its end; it is another's turn
        if isinstance(runner, WorkerRunner):
            runner.send_message(DONE, {"worker": runner.client_id})
        else:
            _end(environment)

    gevent.spawn(wait)


def complete(runner: Any) -> bool:
    """Whether all of the test's tickets were used and answered, in every process."""
    tickets = runner.lab_tickets
    if isinstance(runner, MasterRunner):
        return _Tally.of(runner).complete
    return tickets is not None and tickets.all_done.is_set()


class _Tally:
    """A master's count of the workers that are done."""

    def __init__(self, runner: MasterRunner) -> None:
        self.done: set[str] = set()
        self.expected = 0
        self.end: Callable[[], None] = lambda: None
        runner.register_message(DONE, self.hear)

    @staticmethod
    def of(runner: Any) -> _Tally:
        if not hasattr(runner, "lab_tally"):
            runner.lab_tally = _Tally(runner)
        tally: _Tally = runner.lab_tally
        return tally

    @property
    def complete(self) -> bool:
        return 0 < self.expected <= len(self.done)

    def start(self, expected: int, end: Callable[[], None]) -> None:
        self.done.clear()
        self.expected, self.end = expected, end

    def hear(self, environment: Any, msg: Any, **_: Any) -> None:
        self.done.add(msg.data["worker"])
        logging.getLogger(__name__).info("%d of %d workers have sent their share", len(self.done), self.expected)
        if len(self.done) >= self.expected:
            gevent.spawn(self.end)


def _end(environment: Any) -> None:
    if environment.web_ui is None:
        environment.runner.quit()
    else:
        environment.runner.stop()
