"""The servers of a store, as the wire reaches them: by connections that no client of the lab has made."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from typing import Any

CONNECT_S = 2.0  # as the lab's own clients


def servers(store: Any) -> list[Callable[[], socket.socket]]:
    """Return what makes a new connection to each server of a store, in their order."""
    return [partial(_connected, one) for one in getattr(store, "nodes", None) or [store]]


def _connected(client: Any) -> socket.socket:
    """Return a new connection to the server of a client of redis-py, as its user and to its database. Raises OSError."""
    pool = client.connection_pool
    ask, options = getattr(pool, "get_master_address", None), pool.connection_kwargs
    made = socket.create_connection(ask() if ask is not None else (options["host"], options["port"]), CONNECT_S)
    made.settimeout(None)
    said = []
    if password := options.get("password"):
        said.append(["AUTH", *filter(None, [options.get("username")]), password])
    if database := options.get("db"):
        said.append(["SELECT", str(database)])
    for words in said:
        parts = [f"*{len(words)}", *(part for one in words for part in (f"${len(one.encode())}", one))]
        made.sendall("".join(f"{part}\r\n" for part in parts).encode())
        if not made.recv(256).startswith(b"+OK"):
            made.close()
            raise ConnectionError(f"the store refused {words[0]}")
    return made
