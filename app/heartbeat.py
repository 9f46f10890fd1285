"""The heartbeat of a replica: a thread that wakes again and again, and journals that it could not.

A process that was stopped from outside knows nothing of it: its stamps just lie further apart. The heartbeat sees the gap when
the process runs again. The journal then has the length of the gap, and what the kernel knows of it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from time import monotonic_ns, process_time_ns
from typing import NoReturn

from app.journal import Journal, Stalled

PERIOD_S = 0.05
STALL_NS = 200_000_000  # a longer gap between two beats is an event
QUEUE = "/proc/thread-self/schedstat"  # time on a processor, time in the queue for one, and turns, of one thread


class Heartbeat:
    """Journals each gap between two beats that is longer than STALL_NS. One thread makes it, and beats."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._queue: int | None = None
        with contextlib.suppress(OSError):  # a kernel without it
            self._queue = os.open(QUEUE, os.O_RDONLY)
        self._beat_ns, self._ran_ns, self._queued_ns = monotonic_ns(), process_time_ns(), self._queued()

    def beat(self) -> None:
        """Compare the time with that of the beat before."""
        now_ns, ran_ns, queued_ns = monotonic_ns(), process_time_ns(), self._queued()
        if now_ns - self._beat_ns > STALL_NS:
            queued = None if queued_ns is None or self._queued_ns is None else queued_ns - self._queued_ns
            times = {"since_ns": self._beat_ns, "until_ns": now_ns, "ran_ns": ran_ns - self._ran_ns, "queued_ns": queued}
            self.journal.record(Stalled(request="", **times))  # type: ignore[arg-type] # checked when it is read back
        self._beat_ns, self._ran_ns, self._queued_ns = now_ns, ran_ns, queued_ns

    def close(self) -> None:
        """Close the kernel's file."""
        if self._queue is not None:
            os.close(self._queue)

    def _queued(self) -> int | None:
        """Return how long this thread has waited for a processor so far, in nanoseconds; None if the kernel does not know."""
        return None if self._queue is None else int(os.pread(self._queue, 64, 0).split()[1])


def start(journal: Journal) -> None:
    """Beat as long as the process lives. Does nothing without a journal."""
    if journal.on:
        threading.Thread(target=_beat_for_good, args=(journal,), name="heartbeat", daemon=True).start()


def _beat_for_good(journal: Journal) -> NoReturn:
    heartbeat = Heartbeat(journal)
    while True:
        time.sleep(PERIOD_S)
        heartbeat.beat()
