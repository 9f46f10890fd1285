"""One MariaDB server. It writes every change to disk, whether or not the scenario asks for that."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import Program
from lab.servers.programs.mariadb import MariaDB, ask
from lab.servers.server import Reachable, Server
from lab.servers.store import EventRecorder

STATEMENTS = ("begin", "commit", "delete", "insert", "rollback", "select", "update")


def programs(scenario: Scenario) -> list[Program]:
    return [MariaDB()]


def url(running: Sequence[Reachable]) -> str:
    return f"{running[0].address}/lab"


def commands(running: Sequence[Server]) -> dict[str, int]:
    """The server's own count of statements. Where the counter is in the same server, its statements are in there, too."""
    rows = _ask(running[0], "SHOW GLOBAL STATUS LIKE 'Com\\_%'")
    counts = {name.removeprefix("Com_"): int(number) for name, number in rows}
    return {name: counts[name] for name in STATEMENTS}


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    """It tells nobody what happens to its rows."""
    return []


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """KILL every connection of the replica: a database's session is its connection."""
    theirs = [number for number, user, *_ in _ask(running[0], "SHOW PROCESSLIST") if user == record.replica]
    for number in theirs:
        with contextlib.suppress(OSError):  # closed meanwhile
            _ask(running[0], f"KILL CONNECTION {number}")
    return len(theirs)


def _ask(one: Server, statement: str) -> list[tuple[Any, ...]]:
    return ask(one.port, statement, one.host, one.secret)
