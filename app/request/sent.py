"""What this process has sent to the lock's store, by the name of each command: the lab compares it with the store's own count.

A command that the store ran and no process has sent came from a client that the lab does not see. So everything counts that goes
over a connection of the lab's seam: also what a resource sends, and what belongs to no request.
"""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from time import monotonic_ns
from typing import Any

from app.journal import Journal, Sent


class _Own(threading.local):
    """The counts of one thread: adding to them needs no lock."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        with _mutex:
            _all.append(self.counts)


_mutex = threading.Lock()
_all: list[Counter[str]] = []  # of all threads that ever sent something
_own = _Own()
_ports: set[int] = set()  # of the connections on which commands were sent, on this side
_written: Counter[str] = Counter()


def note(command: str, times: int = 1) -> None:
    """Count a command that is sent."""
    _own.counts[command] += times


def note_connection(connection: Any) -> None:
    """Note the port of a connection, to distinguish it from those of other clients."""
    sock: Any = getattr(connection, "_sock", None)
    if sock is None and (writer := getattr(connection, "_writer", None)) is not None:
        sock = writer.get_extra_info("socket")
    try:
        name = sock.getsockname()
    except (OSError, AttributeError):
        return
    if isinstance(name, tuple):
        note_port(name[1])


def note_port(port: int) -> None:
    """Note the port of a connection on this side."""
    _ports.add(port)


def write(journal: Journal) -> None:
    """Journal what was sent since the last time."""
    with _mutex:
        total: Counter[str] = Counter()
        for counts in _all:
            for _ in range(9):
                try:
                    total.update(dict(counts))
                    break
                except RuntimeError:  # its thread has sent its first command of a name meanwhile
                    continue
        fresh = {name.lower(): number for name, number in (total - _written).items()}
        if fresh:
            _written.update(total - _written)
            journal.record(Sent(request="", sent_ns=monotonic_ns(), counts=fresh, ports=sorted(_ports)))


def writer(journal: Journal) -> partial[None]:
    """Return a function that journals what was sent since the last time."""
    return partial(write, journal)
