"""How much of the machine's processors programs took that do not belong to the run.

Where they took most, the lock, its store and its waiters were late, and a promise with a bound of time is not broken by that.
What the run itself used does not count: a lock that keeps the processors busy makes itself late. Nor does what programs of a
lower priority took: they give way to the run.
"""

from __future__ import annotations

import contextlib
import os

import psutil

SPENT = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # a guest's time is in the user's
TICKS_S = 0.5  # a shorter time is too short for the kernel's clock ticks


class Processors:
    """The processors from now on."""

    def __init__(self, supervisor: int) -> None:
        """supervisor: the pid of the process below which all servers and the load run."""
        self._supervisor = supervisor
        self._before = self._now()

    def others_percent(self) -> int | None:
        """Return which share of the processors' time others have used since then; None if the time was too short to say."""
        if not psutil.pid_exists(self._supervisor):
            return None
        spent_s, busy_s, own_s = (after - before for after, before in zip(self._now(), self._before, strict=True))
        return min(100, max(0, round(100 * (busy_s - own_s) / spent_s))) if spent_s > TICKS_S else None

    def _now(self) -> tuple[float, float, float]:
        """Return the seconds of all processors so far, those in which one was busy, and those that the run used."""
        times = psutil.cpu_times()
        nice_s = getattr(times, "nice", 0)  # of programs that give way to this run, unless it is such a program itself
        busy_s = times.user + times.system + sum(getattr(times, name, 0) for name in ("irq", "softirq", "steal"))
        busy_s += nice_s if os.nice(0) > 0 else 0
        supervisor = psutil.Process(self._supervisor)
        run = {os.getpid(): psutil.Process(), supervisor.pid: supervisor}
        run |= {process.pid: process for process in supervisor.children(recursive=True)}
        spent_s = sum(getattr(times, name, 0) for name in SPENT)
        return spent_s, busy_s, sum(map(_used_s, run.values()))


def _used_s(process: psutil.Process) -> float:
    """Return the processor time of a process, and of those of its children that have ended; none of a process that is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):  # its parent has its time
        times = process.cpu_times()
        names = ("user", "system", "children_user", "children_system")
        return sum(float(getattr(times, name, 0)) for name in names)
    return 0
