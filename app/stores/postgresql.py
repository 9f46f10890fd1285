"""One PostgreSQL server, by psycopg. A connection is a session, and advisory locks belong to it.

A lock gets new connections, or ``parameters`` to make its own: an engine of SQLAlchemy, the settings of Django. All of them are
counted. There is no pool here: the pool is a part of what a library does.
"""

from __future__ import annotations

import threading
from typing import Any

import psycopg

from app.request.context import not_counted
from app.settings import Endpoint, Settings
from app.stores.postgresql_connection import count_all  # noqa: F401 - lock_store calls it

CLIENT_OPTIONS = {"connect_timeout": 5}  # the server forks a process for each connection


class _Here(threading.local):
    connection: psycopg.Connection | None = None


class PostgreSQL:
    """The client."""

    Error = psycopg.Error

    def __init__(self, endpoint: Endpoint, name: str = "") -> None:
        """Take the address. ``name`` is what connections call themselves: the server's list shows the replica of each."""
        self.here = _Here()
        self.made: list[psycopg.Connection] = []
        self.endpoint = endpoint
        self.name = name

    @property
    def parameters(self) -> dict[str, Any]:
        """How to connect, by libpq's names: for a library that makes connections of its own."""
        where = {"host": self.endpoint.first.host, "port": self.endpoint.first.port, "dbname": self.endpoint.database}
        who = {"user": self.endpoint.user, "password": self.endpoint.password, "application_name": self.name}
        return where | who | CLIENT_OPTIONS

    def close(self) -> None:
        """Close the connections of ``query``."""
        for one in self.made:
            one.close()

    def plain(self, **options: Any) -> psycopg.Connection:
        """Return a new connection of psycopg, with autocommit. The caller closes it. ``options`` are those that differ."""
        return psycopg.connect(**self.parameters | {"autocommit": True} | options)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement that is no part of a lock, on this thread's connection: it reaches no failpoint. Raises Error."""
        with not_counted():
            if self.here.connection is None:
                self.here.connection = self.plain()
                self.made.append(self.here.connection)
            return self.here.connection.execute(statement.encode()).fetchall()


def connect(settings: Settings, _: bool) -> PostgreSQL:
    """Make the client for a lock."""
    return PostgreSQL(settings.postgresql_url, settings.replica)
