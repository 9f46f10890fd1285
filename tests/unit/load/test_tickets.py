"""Tickets: any number of processes share a run's requests, each request once.

Locust replaces parts of the standard library when it is imported, so each test runs in a Python of its own.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest

from lab.paths import HOME

SHARES = """
import json
from lab.load.tickets import Tickets

shares = [Tickets({requests}, index, {processes}) for index in range({processes})]
numbers, early = [], []
for one in shares:
    for left in range(one._open, 0, -1):
        numbers.append(one.take().number)
        early.append(one.all_done.is_set())
        one.done()
print(json.dumps([numbers, early, [one.all_done.is_set() for one in shares]]))
"""
ARRIVALS = """
import json
from lab.load.tickets import Tickets

print(json.dumps([[one.number, one.intended_ns] for one in Tickets(200).arrivals(10_000, seed={seed})]))
"""


def printed(code: str) -> Any:
    """Return what a program prints, read as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOME)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("requests", "processes"), [(0, 1), (1, 3), (7, 1), (100, 8)])
def test_each_ticket_is_given_once(requests, processes):
    """The processes together get each number once; a process is done after its last answer, and not before."""
    numbers, early, done = printed(SHARES.format(requests=requests, processes=processes))

    assert sorted(numbers) == list(range(requests))
    assert not any(early)
    assert all(done)


def test_arrivals_follow_the_seed():
    """Arrivals have the gaps of their seed, at the rate on average."""
    one, again, other = ([at for _, at in printed(ARRIVALS.format(seed=seed))] for seed in (1, 1, 2))

    gaps = [[late - early for early, late in itertools.pairwise(run)] for run in (one, again, other)]
    assert gaps[0] == gaps[1] != gaps[2]
    assert 0.7 < sum(gaps[0]) / len(gaps[0]) / 100_000 < 1.4  # in ns, at 10 000 a second
