"""The seam to MariaDB: the lab's own client, on connections whose statements are the explorer's commands.

In place of the pool of SQLAlchemy there is a plain one: the connection that was used last is used first. A reply that is lost
breaks its connection, as the failpoints of a run do it: the server rolls back what was open there.
"""

from __future__ import annotations

import threading
from typing import Any

import pymysql
from pymysql.err import error_map

from app.journal import Journal
from app.request.current import request_context
from app.settings import Address, Endpoint
from app.stores.mysql import MySQL
from app.stores.mysql_connection import LOST as LOST_CONNECTION
from lab.explore.code.operation import LOCK, LOST, WORK, CommandSent
from lab.explore.code.replica import current
from lab.explore.model import on_grid
from lab.explore.store.real_mysql import limit_s, words_of

ENDPOINT = Endpoint(scheme="mysql", addresses=(Address("127.77.3.1", 3306),))


class _Here(threading.local):
    connection: Any = None  # of the transaction that this thread is in


class Cursor:
    """A cursor of a connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.rows: tuple[tuple[Any, ...], ...] = ()
        self.lastrowid = 0

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> int:
        """Send a statement, and return how many rows it found or changed. Raises what PyMySQL raises."""
        raw = self.connection.sent(statement, tuple(values))
        if raw[0] == "error":
            raise error_map.get(raw[1], pymysql.OperationalError)(*raw[1:])
        _, self.rows, touched, self.lastrowid = raw
        return int(touched)

    def fetchall(self) -> tuple[tuple[Any, ...], ...]:
        """Return the rows."""
        return self.rows

    def close(self) -> None:
        """Do nothing: all rows have come."""


class Connection:
    """A connection, as the pool hands it out."""

    def __init__(self, pool: Pool, name: str) -> None:
        self.pool, self.name = pool, name
        self.is_valid = True
        self._is_broken = False

    def cursor(self) -> Cursor:
        """Return a cursor."""
        return Cursor(self)

    def sent(self, template: str, values: tuple[Any, ...]) -> Any:
        """Send a statement, and return what came. Raises pymysql.MySQLError where the connection is broken."""
        if self._is_broken:
            raise pymysql.InterfaceError(0, "")
        here, is_mine = current(), self.pool.here.connection is self
        name = f"{self.name}{'t' if is_mine else ''}".encode()
        limit = limit_s(template, values)
        until_ms = None if limit is None else here.now_ms + on_grid(limit * 1000)
        server = LOCK if request_context.counting else WORK
        raw = here.command(CommandSent(server, words_of(name, template, values), *here.line(), until_ms=until_ms))
        if raw is not LOST:
            return raw
        if server == WORK:
            raise RuntimeError("the work fails")
        self._is_broken = True
        raise pymysql.OperationalError(LOST_CONNECTION, "Lost connection to the server during query")

    def invalidate(self, _: object = None) -> None:
        """Use the connection no more."""
        self.is_valid = False

    def close(self) -> None:
        """Give the connection back."""
        if self.is_valid and not self._is_broken:
            self.pool.free.append(self)


class Pool:
    """The connections of a replica."""

    def __init__(self, here: _Here) -> None:
        self.here = here
        self.free: list[Connection] = []
        self.made = 0

    def connect(self) -> Connection:
        """Return a connection."""
        if self.free:
            return self.free.pop()
        self.made += 1
        return Connection(self, f"{current().number}.{self.made}")


def client() -> MySQL:
    """Return the client for a lock, in the replica that runs."""
    made = MySQL(ENDPOINT, Journal(None))
    made.here = _Here()  # type: ignore[assignment] # a local of the replica's threads
    made.pool = Pool(made.here)  # type: ignore[assignment, arg-type] # in place of a pool of SQLAlchemy
    return made
