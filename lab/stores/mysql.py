"""One MariaDB server. It writes every change to disk, whether or not the scenario asks for that."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from lab.scenario import Scenario
from lab.service import Running, Service
from lab.services.mariadb import MariaDB, ask
from lab.store import Witnessing
from lab.strike import Strike

STATEMENTS = ("begin", "commit", "delete", "insert", "rollback", "select", "update")


def services(scenario: Scenario) -> list[Service]:
    return [MariaDB()]


def url(running: Sequence[Running]) -> str:
    return f"{running[0].address}/lab"


def commands(running: Sequence[Running]) -> dict[str, int]:
    """The server's own count of statements. Where the counter is in the same server, its statements are in there, too."""
    rows = ask(running[0].port, "SHOW GLOBAL STATUS LIKE 'Com\\_%'")
    counts = {name.removeprefix("Com_"): int(number) for name, number in rows}
    return {name: counts[name] for name in STATEMENTS}


def witnesses(running: Sequence[Running], path: Path) -> list[Witnessing]:
    """It tells nobody what happens to its rows."""
    return []


def end_session(running: Sequence[Running], struck: Strike) -> int:
    """KILL every connection of the struck replica: a database's session is its connection."""
    theirs = [number for number, user, *_ in ask(running[0].port, "SHOW PROCESSLIST") if user == struck.replica]
    for number in theirs:
        with contextlib.suppress(OSError):  # closed meanwhile
            ask(running[0].port, f"KILL CONNECTION {number}")
    return len(theirs)
