"""Whether a process itself listens on a port: how a server is known that says nothing of its identity."""

from __future__ import annotations

import psutil


def listens(pid: int, port: int) -> bool:
    """Whether this process has the port. False where that cannot be seen any more."""
    try:
        found = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found)
