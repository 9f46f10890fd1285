"""One PostgreSQL server. It writes each change to disk in every scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.stores.statements import name_of
from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.programs.postgres import DATABASE, USER, Postgres, ask
from lab.servers.server import Reachable, Server

OTHERS = """SELECT pid, application_name FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"""
END = "SELECT pg_terminate_backend(%s)"


def programs(scenario: Scenario) -> list[ServerProgram]:
    return [Postgres()]


def url(running: Sequence[Reachable]) -> str:
    return f"{USER}@{running[0].address}/{DATABASE}"


def commands(running: Sequence[Server]) -> dict[str, int]:
    """Return the server's own count of statements, by the first word of each. A server that was killed begins anew."""
    counts: Counter[str] = Counter()
    for text, calls in _ask(running[0], "SELECT query, calls FROM pg_stat_statements WHERE toplevel"):
        counts[name_of(text).lower()] += calls
    return dict(counts)


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """End every connection of the faulted replica: in a database, a session is a connection."""
    theirs = [number for number, name in _ask(running[0], OTHERS) if name == record.replica]
    return sum(_ask(running[0], END, number) == [(True,)] for number in theirs)


def _ask(server: Server, statement: str, *values: object) -> list[tuple[Any, ...]]:
    return ask(server.port, statement, values, server.host, server.secret)
