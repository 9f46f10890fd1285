"""One supervisor for several runs: what a run started ends with the run."""

from __future__ import annotations

import os
import signal

import psutil

from lab.servers.supervisor import Supervisor, one_supervisor, supervised
from tests.command import runs


def start(supervisor: Supervisor, folder) -> psutil.Process:
    """Start a program that would never end, with a child that has left its session and is stopped."""
    line = "setsid sh -c 'kill -STOP $$' & sleep 1000"
    return psutil.Process(supervisor.start(["sh", "-c", line], dict(os.environ), folder, folder / "log"))


def test_runs_have_one_supervisor(tmp_path):
    """Two runs have one supervisor, and no program outlives its run, also where it has left its session."""
    with one_supervisor():
        with supervised() as first:
            program = start(first, tmp_path)
        assert not runs(program)
        assert first.descendants() == []
        with supervised() as second:
            program = start(second, tmp_path)
            assert second is first
            assert second.exit_of(program.pid) is None
            assert second.signal(program.pid, signal.SIGCONT)

    assert not runs(program)
    assert not psutil.pid_exists(first.pid)


def test_each_run_has_a_supervisor(tmp_path):
    """Elsewhere each run has a supervisor of its own, which ends with it."""
    with supervised() as first:
        program = start(first, tmp_path)
    with supervised() as second:
        assert second is not first

    assert not runs(program)
    assert not psutil.pid_exists(first.pid)
