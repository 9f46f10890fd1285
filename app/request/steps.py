"""Let every command of a replica to a store wait until a controller lets it go.

A fault is injected once, at one moment. A step is at every command, so that a controller outside decides the order of all
commands of all replicas. Each thread of the replica has its own connection to the controller.
The thread reports a command before it is sent, waits for an order of one line, and reports the reply. Without a controller, no
command waits.

``app/stores/redis_steps.py`` does this at the connections to Redis.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import Any, ClassVar

from app.request.context import here

COMMAND, REPLY = "command", "reply"
# the orders: send the command; do not send it, and raise an error; send it, drop the reply, and raise an error; send it twice
GO, LOSE_COMMAND, LOSE_REPLY, SEND_TWICE = ("go", "lose command", "lose reply", "send twice")


class Steps(threading.local):
    """The connection of one thread to the controller."""

    # of the whole process; None if no command waits
    address: ClassVar[tuple[str, int] | None] = None
    replica: ClassVar[str] = ""
    file: Any = None

    def wait(self, at: str, **details: Any) -> str:
        """Report the command of this thread, and wait for the order."""
        return str(self.file.readline()).strip() or GO if self.report(at, **details) else GO

    def report(self, at: str, **details: Any) -> bool:
        """Report the command of this thread, or its reply. Return whether there is a controller."""
        if self.address is None:
            return False
        about = {"at": at, "request": here().request, "replica": self.replica, "pid": os.getpid()}
        try:
            if self.file is None:
                with socket.create_connection(self.address, timeout=None) as connection:  # the file keeps it open
                    self.file = connection.makefile("rw", encoding="utf-8")
            self.file.write(json.dumps(about | details) + "\n")
            self.file.flush()
        except OSError:  # the controller has ended: from now on no command waits
            type(self).address = None
            return False
        return True


def begin(address: str, replica: str) -> None:
    """Let each command of this process wait for the controller at this address; without an address, none waits."""
    host, _, port = address.rpartition(":")
    Steps.address, Steps.replica = (host, int(port)) if address else None, replica


steps = Steps()
