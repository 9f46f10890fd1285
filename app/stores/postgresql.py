"""One PostgreSQL server, by psycopg. A connection is a session, and advisory locks belong to it.

A lock gets new connections, or ``parameters`` to make its own: an engine of SQLAlchemy, the settings of Django. All of them are
counted. There is no pool here: a library has its own.
"""

from __future__ import annotations

from typing import Any

import psycopg

from app.settings import Endpoint, Settings
from app.stores.postgresql_connection import count_all  # noqa: F401 - lock_store calls it

CLIENT_OPTIONS = {"connect_timeout": 5}  # the server forks a process for each connection


class PostgreSQL:
    """The client."""

    Error = psycopg.Error

    def __init__(self, endpoint: Endpoint, name: str = "") -> None:
        """Take the address. ``name`` is the name of the connections: the server's list shows the replica of each."""
        self.endpoint = endpoint
        self.name = name

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a connection, by libpq's names, for a library that makes connections of its own."""
        address = {"host": self.endpoint.first.host, "port": self.endpoint.first.port, "dbname": self.endpoint.database}
        account = {"user": self.endpoint.user, "password": self.endpoint.password, "application_name": self.name}
        return address | account | CLIENT_OPTIONS

    def plain(self, autocommit: bool = True, **options: Any) -> psycopg.Connection:
        """Return a new connection of psycopg. The caller closes it. options: they replace the usual options."""
        return psycopg.connect(**self.parameters | {"autocommit": autocommit} | options)


def connect(settings: Settings, _: bool) -> PostgreSQL:
    """Make the client for a lock."""
    return PostgreSQL(settings.postgresql_url, settings.replica)
