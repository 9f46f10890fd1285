"""One MariaDB server. It writes each change to disk in every scenario."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.programs.mariadb import MariaDB, ShiftedMariaDB, ask
from lab.servers.server import Reachable, Server

STATEMENTS = ("begin", "commit", "delete", "insert", "rollback", "select", "update")


def programs(scenario: Scenario) -> list[ServerProgram]:
    return [ShiftedMariaDB() if scenario.store_clocks else MariaDB()]


def url(running: Sequence[Reachable]) -> str:
    return f"{running[0].address}/lab"


def commands(running: Sequence[Server]) -> dict[str, int]:
    """Return the server's own count of statements. If the counter is in the same server, its
    statements are included.
    """
    rows = _ask(running[0], "SHOW GLOBAL STATUS LIKE 'Com\\_%'")
    counts = {name.removeprefix("Com_"): int(number) for name, number in rows}
    return {name: counts[name] for name in STATEMENTS}


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """KILL every connection of the faulted replica: in a database, a session is a connection."""
    theirs = [number for number, user, *_ in _ask(running[0], "SHOW PROCESSLIST") if user == record.replica]
    for number in theirs:
        with contextlib.suppress(OSError):  # the connection has been closed meanwhile
            _ask(running[0], f"KILL CONNECTION {number}")
    return len(theirs)


def _ask(server: Server, statement: str) -> list[tuple[Any, ...]]:
    return ask(server.port, statement, server.host, server.secret)
