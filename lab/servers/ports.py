"""Ports of 127.0.0.1 that belong to one process of the lab and to all processes below it, until the last of them has ended.

The ports are in blocks. A process takes a block by binding a UDP socket to the block's first number: the kernel lets nobody else
bind it, of whichever user. Each program that the lab starts inherits the socket. So the block is free again when every server
and every client of the run is gone, however the run ended, and no request of an old run reaches a server of a new one. (A lock
file would need a folder that all users may write, and would hold between containers that share it and no network.)
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import socket
import threading

from lab.errors import NotReady
from lab.servers.server import LOOPBACK

PORTS = range(16_384, 32_768)  # below the range from which the kernel gives ports to outgoing connections
IN_A_BLOCK = 128
FOR_PAGES = 8  # at the start of each block: a page that stays open in a browser sends on after its run, so no store may follow it


class PortBlock:
    """Ports that no other process of the lab uses."""

    def __init__(self) -> None:
        """Take a block. Raises NotReady if none is free."""
        self.first, self.held = _take()  # held: a file descriptor, for all processes below this one
        self._pages = itertools.cycle(range(self.first, self.first + FOR_PAGES))
        self._servers = itertools.cycle(range(self.first + FOR_PAGES, self.first + IN_A_BLOCK))

    def free(self, page: bool) -> int:
        """Return the next port on which no server listens. Raises NotReady."""
        for port in itertools.islice(self._pages if page else self._servers, FOR_PAGES if page else IN_A_BLOCK - FOR_PAGES):
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((LOOPBACK, port))
                return port
        raise NotReady(f"servers listen on all ports of this process, {IN_A_BLOCK} from {self.first} on")


_taken: dict[int, PortBlock] = {}  # by process: a forked process may not give out the ports of its parent
_one_at_a_time = threading.Lock()


def block() -> PortBlock:
    """Return the block of this process, which is taken at the first call. Raises NotReady."""
    with _one_at_a_time:
        if os.getpid() not in _taken:
            _taken[os.getpid()] = PortBlock()
        return _taken[os.getpid()]


def free_port(page: bool = False) -> int:
    """Return a port of this process on which no server listens. page: for a page that a browser opens. Raises NotReady.

    A program that is not the lab's may bind the port before the caller does.
    """
    return block().free(page)


def _take() -> tuple[int, int]:
    """Return the first port of a free block, and the file descriptor that holds it. Raises NotReady."""
    firsts = PORTS[::IN_A_BLOCK]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holding:
        for first in random.sample(firsts, len(firsts)):
            with contextlib.suppress(OSError):
                holding.bind((LOOPBACK, first))
                return first, holding.detach()
    raise NotReady(
        f"all {len(firsts)} blocks of ports from {PORTS.start} to {PORTS.stop - 1} are taken by other labs of this machine"
    )
