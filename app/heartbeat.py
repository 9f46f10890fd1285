"""Journal the stalls of a replica: a thread wakes every 50 ms, and journals each time that it could not.

A process that was stopped from outside does not notice it: its stamps only lie further apart. The heartbeat sees the gap when
the process runs again. It journals the length of the gap, and the kernel's figures of it. A process that a signal had
stopped gets SIGCONT; a process that had only kept its interpreter busy gets none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from time import monotonic_ns, process_time_ns
from typing import NoReturn

from app.journal import STALL_NS, Journal, Stalled

PERIOD_S = 0.05
QUEUED_NS = 10_000_000  # a beat that waited longer for a processor is an event, even within a short gap
SIGNAL_WITHIN_S = 0.05  # the thread that takes signals may run after the heartbeat
QUEUE = "/proc/thread-self/schedstat"  # time on a processor, time in the queue for one, and turns, of one thread


class Continued:
    """When this process continued after a signal had stopped it."""

    last_ns = 0
    # whether the process takes the signal: only the main thread can arrange it
    is_known = False

    def listen(self) -> None:
        """Take the signal from now on."""
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGCONT, self._note)
            self.is_known = True

    def since(self, at_ns: int) -> bool | None:
        """Return whether the process was stopped and continued after that moment; None if that is not known."""
        if self.is_known and self.last_ns < at_ns:
            time.sleep(SIGNAL_WITHIN_S)
        return self.last_ns >= at_ns if self.is_known else None

    def _note(self, number: int, frame: object) -> None:
        self.last_ns = monotonic_ns()


continued = Continued()


class Heartbeat:
    """Journal each stall, and each shorter gap in which no processor was free. One thread makes it, and calls ``beat``."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._queue: int | None = None
        with contextlib.suppress(OSError):  # a kernel without it
            self._queue = os.open(QUEUE, os.O_RDONLY)
        self._beat_ns, self._ran_ns, self._queued_ns = monotonic_ns(), process_time_ns(), self._queued()

    def beat(self) -> None:
        """Compare the time with the time of the beat before, and journal a gap."""
        now_ns, ran_ns, queued_ns = monotonic_ns(), process_time_ns(), self._queued()
        queued = None if queued_ns is None or self._queued_ns is None else queued_ns - self._queued_ns
        is_stall = now_ns - self._beat_ns > STALL_NS
        if is_stall or (queued or 0) > QUEUED_NS:
            times = {"since_ns": self._beat_ns, "until_ns": now_ns, "ran_ns": ran_ns - self._ran_ns, "queued_ns": queued}
            stopped = continued.since(self._beat_ns) if is_stall else None
            self.journal.record(Stalled(request="", stopped=stopped, **times))  # type: ignore[arg-type] # checked when read back
        self._beat_ns, self._ran_ns, self._queued_ns = now_ns, ran_ns, queued_ns

    def _queued(self) -> int | None:
        """Return how long this thread has waited for a processor so far, in nanoseconds; None if the kernel does not know."""
        return None if self._queue is None else int(os.pread(self._queue, 64, 0).split()[1])


def start(journal: Journal) -> None:
    """Beat as long as the process lives. Does nothing without a journal."""
    if journal.on:
        continued.listen()
        threading.Thread(target=_beat_for_good, args=(journal,), name="heartbeat", daemon=True).start()


def _beat_for_good(journal: Journal) -> NoReturn:
    heartbeat = Heartbeat(journal)
    while True:
        time.sleep(PERIOD_S)
        heartbeat.beat()
