"""Test the tickets by which any number of processes share a run's requests, each request once.

Locust replaces parts of the standard library when it is imported, so each test runs in a Python of its own.
"""

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest

from lab.paths import HOME
from tests.every import every

SHARES = """
import json
from lab.load.tickets import Tickets

def shared(requests, processes):
    shares = [Tickets(requests, index, processes) for index in range(processes)]
    numbers, early = [], []
    for one in shares:
        for left in range(one._open, 0, -1):
            numbers.append(one.take().number)
            early.append(one.all_done.is_set())
            one.done()
    return requests, numbers, early, [one.all_done.is_set() for one in shares]

print(json.dumps([shared(*each) for each in [(1, 3), (7, 1), (100, 8)]]))
"""
ARRIVALS = """
import json
from lab.load.tickets import Tickets

drawn = [(Tickets(200), 1), (Tickets(200), 1), (Tickets(200), 2), (Tickets(400, 1, 2), 1)]
print(json.dumps([[one.intended_ns for one in tickets.arrivals(10_000, seed)] for tickets, seed in drawn]))
"""
HELD = """
import json
import sys
from pathlib import Path

import gevent
from lab.load.tickets import AHEAD, Tickets

faults = Path(sys.argv[1])
sent = []

def user(tickets):
    for ticket in tickets.arrivals(1000, 1, faults):
        sent.append(ticket.intended_ns)

tickets = Tickets(2 * AHEAD)
gevent.spawn(user, tickets)
while len(sent) < AHEAD:
    gevent.sleep(0.001)
gevent.sleep(0.1)
without = len(sent)
tickets.done()  # one answer: one more request
while len(sent) == without:
    gevent.sleep(0.001)
(faults / "slow-1.injected").touch()
while len(sent) < 2 * AHEAD:
    gevent.sleep(0.001)
alone = [one.intended_ns for one in Tickets(2 * AHEAD).arrivals(1000, 1)]
print(json.dumps([AHEAD, without, sent, alone]))
"""


def printed(code: str, *words: str) -> Any:
    """Return the JSON that a program prints, decoded."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, cwd=HOME)
    return json.loads(done.stdout)


@pytest.mark.whole
@every("requests, numbers, early, done", lambda: printed(SHARES))
def test_each_ticket_is_given_once(requests, numbers, early, done):
    """The processes together get each number once; a process is done after its last answer, and not before."""
    assert sorted(numbers) == list(range(requests))
    assert not any(early)
    assert all(done)


@pytest.mark.whole
def test_arrivals_follow_the_seed():
    """The gaps between arrivals follow from the seed and the process, and on average from the rate."""
    gaps = [[late - early for early, late in itertools.pairwise(run)] for run in printed(ARRIVALS)]

    assert gaps[0] == gaps[1]
    assert len({tuple(run) for run in gaps}) == 3
    assert 0.7 < sum(gaps[0]) / len(gaps[0]) / 100_000 < 1.4  # in ns, at 10 000 a second


@pytest.mark.whole
def test_arrivals_wait_for_the_first_fault(tmp_path):
    """Until the first fault begins, at most AHEAD requests are without an answer; the clock of later ones stands still."""
    (tmp_path / "slow-1.json").touch()

    ahead, without, sent, alone = printed(HELD, str(tmp_path))

    assert without == ahead
    due_ns = [late - early for early, late in ((sent[0], sent[ahead]), (alone[0], alone[ahead]))]
    assert due_ns[0] > due_ns[1] + 90_000_000  # the arrivals' clock stood still: the next arrival was due later, so not late
