"""Test the share of the processors that other programs use during a run."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from lab.run.environment import Processors

# a second of a processor: half of it by a child, which has ended
BUSY = """
import os, time
pid = os.fork()
if pid:
    os.wait()
while time.process_time() < 0.5:
    pass
if pid:
    print("done", flush=True)
    input()
"""


@pytest.mark.whole
def test_run_is_not_among_the_others():
    """The processor time of the processes below the supervisor counts as the run's, also the time of a child that has ended."""
    idle = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own, elsewhere, began_s = Processors(os.getpid()), Processors(idle.pid), time.monotonic()
    busy = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert busy.stdout is not None
    assert busy.stdout.readline() == b"done\n"

    (used_s, mine), (_, foreign) = own.used(), elsewhere.used()

    second = 100 / (time.monotonic() - began_s) / (psutil.cpu_count() or 1)
    assert None not in (mine, foreign)
    assert (used_s or 0) > 0.75  # the child that has ended and its parent
    assert (foreign or 0) - (mine or 0) > 0.75 * second - 1  # it is rounded
    for process in (busy, idle):
        process.communicate(b"\n")


def test_short_run_says_nothing():
    """For a moment shorter than a tick of the kernel, the share of other programs is unknown."""
    assert Processors(os.getpid()).used()[1] is None


def test_killed_supervisor_leaves_no_figure():
    """A run whose processes are gone, with the seconds that they used, has no figure instead of one below zero."""
    processors = Processors(os.getpid())
    processors._before = (0.0, 0.0, 1e9)
    assert processors.used() == (None, None)
