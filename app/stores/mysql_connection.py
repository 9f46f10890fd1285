"""A connection of a lock to MariaDB or MySQL: here statements are counted, and faults are injected.

Every statement of a cursor or a pool goes through ``query``, ``begin``, ``commit`` or ``rollback`` of PyMySQL's connection. The
statements that PyMySQL sends by itself when it connects do not count, nor does a ping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pymysql

from app.failpoints.injection import ReplyDropped, ReplyLost
from app.request.answer import Meaning, granted_in
from app.request.context import COUNTING, here
from app.settings import Address
from app.stores.statements import asks_by_name, meaning, name_of, renews

LOST = 2013  # the number of PyMySQL's error for a connection that broke during a statement
NO_ANSWER = (0, 2006, LOST)
DUPLICATE = 1062
SERVERS: set[tuple[str, int]] = set()  # statements to these servers are counted, whichever connection of this process sends them
MAKE = pymysql.Connection.__init__


class LostReply(pymysql.OperationalError):
    """The reply to a statement was lost, and the connection with it."""


class CountedConnection(pymysql.Connection):  # type: ignore[misc, unused-ignore] # PyMySQL has types only for some
    """A connection that reaches the failpoints, counts statements, and journals statements sent outside any request."""

    setting_up = False

    def connect(self, sock: Any = None) -> None:
        self.setting_up = True
        try:
            super().connect(sock)
        finally:
            self.setting_up = False

    def query(self, sql: Any, unbuffered: bool = False) -> Any:
        send = super().query
        return self._counted(sql, lambda: send(sql, unbuffered))

    def begin(self) -> None:
        self._counted("BEGIN", super().begin)

    def commit(self) -> None:
        self._counted("COMMIT", super().commit)

    def rollback(self) -> None:
        self._counted("ROLLBACK", super().rollback)

    def _counted(self, sql: Any, send: Callable[[], Any]) -> Any:
        if self.setting_up or not COUNTING.get():
            return send()
        statement = sql.decode(self.encoding, errors="replace") if isinstance(sql, (bytes, bytearray)) else str(sql)
        name = name_of(statement)
        here().sending(name, error=pymysql.OperationalError)
        try:
            touched = send()
        except Exception as error:
            self._failed(name, error)
            raise
        answer = self._answer(name, statement, touched)
        means = meaning(name, statement, answer)
        try:
            here().answered(name, answer, means, subject=granted_in(statement), prolongs=renews(name, statement))
        except ReplyLost as lost:
            self._force_close()
            kind = pymysql.OperationalError if isinstance(lost, ReplyDropped) else LostReply  # after this it is sent again
            raise kind(LOST, "Lost connection to the server during query") from lost
        return touched

    def _failed(self, name: str, error: Exception) -> None:
        """Note an error: an error of the server is an answer, an error of the connection is none."""
        number = error.args[0] if isinstance(error, pymysql.MySQLError) and error.args else 0
        if number in NO_ANSWER:
            here().answered(name, error)
        else:
            here().answered(name, f"error: {number}", Meaning.REFUSED if number == DUPLICATE else Meaning.NOTHING)

    def _answer(self, name: str, statement: str, touched: Any) -> Any:
        """Return the server's answer: the number of rows, or for a lock by name the value that the server returned.

        For a COMMIT or ROLLBACK it is OK: these change no row, and 0 would mean a refusal.
        """
        if name in ("COMMIT", "ROLLBACK"):
            return "OK"
        rows = getattr(self._result, "rows", None)
        if rows and asks_by_name(name, statement):
            return int(rows[0][0] or 0)
        return touched


def count_all(addresses: Iterable[Address]) -> None:
    """Count the statements to the servers of the lock, of each connection of PyMySQL that this process makes from now on."""
    SERVERS.update((address.host, address.port) for address in addresses)
    pymysql.Connection.__init__ = _make  # PyMySQL has no hook for it


def _make(connection: Any, *args: Any, **options: Any) -> None:
    MAKE(connection, *args, **options)
    if (connection.host, connection.port) in SERVERS:
        connection.__class__ = type("CountedConnection", (CountedConnection, type(connection)), {})
