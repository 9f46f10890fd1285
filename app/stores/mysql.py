"""One MariaDB or MySQL server, by a pool of connections. The statements are sent as they are written here.

A statement runs by itself (autocommit) on any free connection. If its thread is in a transaction, all statements of the thread,
for the lock and for the counter, go to the connection of that transaction.

The isolation level is READ COMMITTED. So after waiting for the lock, a transaction reads the commit of the last holder. And
only the locked row is locked: REPEATABLE READ would lock gaps as well.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pymysql
from sqlalchemy import event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from app.request.context import not_counted
from app.settings import Endpoint, Settings
from app.stores.mysql_connection import LOST, LostReply, count_all  # noqa: F401 - lock_store calls count_all

POOL_OPTIONS = {"pool_size": 32, "max_overflow": 0, "timeout": 5.0}  # one for each thread of a replica: no thread needs more
CONNECTION_OPTIONS = {
    "connect_timeout": 2,
    "read_timeout": 60,  # longer than any wait for a row: the statement itself limits that wait
    "write_timeout": 5,
    "autocommit": True,
    "ssl_disabled": True,  # as for all stores: speeds can be compared only with the same kind of connection
    "init_command": "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
}
PING_AFTER_S = 0.5  # a connection that was idle for longer is pinged first, as most pools do
CLIENT_OPTIONS = POOL_OPTIONS | CONNECTION_OPTIONS | {"ping_after_s": PING_AFTER_S}


class Duplicate(pymysql.IntegrityError):
    """The unique key is taken."""


class Deadlock(pymysql.OperationalError):
    """InnoDB found a circle of waiting transactions, and rolled this transaction back."""


class TimedOut(pymysql.OperationalError):
    """The statement took longer than it was allowed to; the transaction is still open."""


KINDS: dict[int, type[pymysql.MySQLError]] = {1062: Duplicate, 1205: TimedOut, 1213: Deadlock, 1969: TimedOut}


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The effect of a statement."""

    # the rows of the answer
    rows: tuple[tuple[Any, ...], ...]
    # how many rows were found or changed
    touched: int
    # the number that the statement gave to LAST_INSERT_ID()
    last_insert_id: int


class _OfThread(threading.local):
    connection: PoolProxiedConnection | None = None  # the connection of this thread's open transaction


class MySQL:
    """The client. Its exceptions are attributes: a lock can catch them without importing the library."""

    Error = pymysql.MySQLError
    Duplicate = Duplicate
    Deadlock = Deadlock
    TimedOut = TimedOut

    def __init__(self, endpoint: Endpoint, user: str = "root") -> None:
        """Make the pool. ``user`` is the user if the endpoint names none."""
        self.of_thread = _OfThread()
        self.endpoint = endpoint
        self.user = endpoint.user or user
        self.pool = _pool(self.plain)

    def close(self) -> None:
        """Close all connections."""
        self.pool.dispose()

    @property
    def in_transaction(self) -> bool:
        """Return whether this thread has an open transaction."""
        return self.of_thread.connection is not None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction: COMMIT at its end, ROLLBACK if it raises. Inside a transaction, the block joins it."""
        if self.in_transaction:
            yield
            return
        with self._borrowed() as connection:
            self.of_thread.connection = connection
            try:
                self.execute("BEGIN")
                yield
                self.execute("COMMIT")
            except BaseException:
                if connection.is_valid:
                    try:
                        _run(connection, "ROLLBACK", ())
                    except pymysql.MySQLError as error:
                        connection.invalidate(error)
                raise
            finally:
                self.of_thread.connection = None

    def execute(self, statement: str, *values: object) -> int:
        """Run a statement of the lock. Return how many rows it found or changed. Raises Error."""
        try:
            return self._execute(statement, values).touched
        except LostReply:
            if self.of_thread.connection is not None:  # a transaction is lost with its connection
                self.of_thread.connection.invalidate()
                raise
            return self._execute(statement, values).touched  # a statement alone can be sent again on another connection

    def query(self, statement: str, *values: object) -> StatementResult:
        """Run a statement that is not part of the lock protocol: it reaches no failpoint, and is not counted. Raises Error."""
        with not_counted():
            return self._execute(statement, values)

    def plain(self, autocommit: bool = True, **options: Any) -> pymysql.Connection:
        """Return a new connection of PyMySQL, for a library. The caller closes it. options: they replace the usual options."""
        server, account = self.endpoint.first, {"user": self.user, "password": self.endpoint.password, "autocommit": autocommit}
        place = {"host": server.host, "port": server.port, "database": self.endpoint.database or "lab"}
        return pymysql.Connection(**CONNECTION_OPTIONS | place | account | options)

    def _execute(self, statement: str, values: tuple[object, ...]) -> StatementResult:
        if self.of_thread.connection is not None:
            return _run(self.of_thread.connection, statement, values)
        with self._borrowed() as connection:
            return _run(connection, statement, values)

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[PoolProxiedConnection]:
        """Borrow a connection from the pool. After an unexpected error it is not used again."""
        try:
            connection = self.pool.connect()
        except PoolTimeout as error:
            raise pymysql.OperationalError(0, f"no connection was free: {error}") from error
        try:
            yield connection
        except pymysql.MySQLError as error:
            if type(error) not in KINDS.values() and connection.is_valid:
                connection.invalidate(error)
            raise
        finally:
            connection.close()


def _run(connection: PoolProxiedConnection, statement: str, values: tuple[object, ...]) -> StatementResult:
    if not connection.is_valid:
        raise pymysql.OperationalError(LOST, "the connection of this transaction is gone")
    try:
        with contextlib.closing(connection.cursor()) as cursor:
            touched: Any = cursor.execute(statement, values)
            return StatementResult(tuple(cursor.fetchall()), touched, cursor.lastrowid or 0)
    except pymysql.MySQLError as error:
        kind = KINDS.get(error.args[0] if error.args else 0)
        if kind is None:
            raise
        raise kind(*error.args) from error


def _pool(connect: Callable[[], pymysql.Connection]) -> QueuePool:
    """Make a pool that connects on demand. By itself it sends only a ping, to a connection that was idle for long."""

    def taken(connection: Any, record: Any, _proxy: Any) -> None:
        if monotonic() - record.info.get("used_s", monotonic()) > PING_AFTER_S:
            try:
                connection.ping(reconnect=False)
            except pymysql.MySQLError as error:
                raise InvalidatePoolError from error  # if one connection is dead, all connections of its age count as dead

    def returned(connection: Any, record: Any) -> None:
        if connection is not None:
            record.info["used_s"] = monotonic()

    pool = QueuePool(connect, reset_on_return=None, use_lifo=True, **POOL_OPTIONS)  # type: ignore[arg-type] # as above
    event.listen(pool, "checkout", taken)
    event.listen(pool, "checkin", returned)
    return pool


def connect(settings: Settings, _: bool) -> MySQL:
    """Make the client for a lock.

    If the endpoint names no user, the user is the replica: the server's list of connections then shows the replica of each.
    """
    return MySQL(settings.mysql_url, settings.replica)
