"""One client of the lock's store, as the store itself knows it."""

from __future__ import annotations

import msgspec


class ClientFacts(msgspec.Struct, frozen=True):
    """A connection that was open when the run ended."""

    # its port on the client's side
    port: int
    # the name that it gave itself; most give none
    name: str = ""
    # the last command that it sent
    command: str = ""
