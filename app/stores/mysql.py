"""One MariaDB or MySQL server, by a pool of connections. The statements are sent as they are written here.

A statement runs by itself (autocommit) on any free connection. If its thread is in a transaction, all its statements, those of
the lock and those of the counter, go to the connection of that transaction.

The isolation level is READ COMMITTED. So after waiting for the lock, a transaction reads what the last holder committed. And
only the locked row is locked: REPEATABLE READ would lock gaps as well.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pymysql
from sqlalchemy import event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from app.endpoint import Endpoint
from app.failpoints import Meaning, ReplyLost, request_context
from app.journal import Journal
from app.settings import Settings

POOL_OPTIONS = {"pool_size": 32, "max_overflow": 0, "timeout": 5.0}  # one for each thread of a replica: no thread needs more
CONNECTION_OPTIONS = {
    "connect_timeout": 2,
    "read_timeout": 60,  # longer than any wait for a row: the statement itself limits that wait
    "write_timeout": 5,
    "autocommit": True,
    "ssl_disabled": True,  # as with the other stores: speeds compare only on the same kind of connection
    "init_command": "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
}
PING_AFTER_S = 0.5  # a connection that was idle for longer is pinged first, as most pools do
CLIENT_OPTIONS = POOL_OPTIONS | CONNECTION_OPTIONS | {"ping_after_s": PING_AFTER_S}


class Duplicate(pymysql.IntegrityError):
    """The unique key is taken."""


class Deadlock(pymysql.OperationalError):
    """InnoDB found a circle of waiting transactions, and undid the whole of this one."""


class TimedOut(pymysql.OperationalError):
    """The statement took longer than it was allowed to; the transaction is still open."""


KINDS: dict[int, type[pymysql.MySQLError]] = {1062: Duplicate, 1205: TimedOut, 1213: Deadlock, 1969: TimedOut}
LOST = 2013
WITHIN = "SET STATEMENT max_statement_time = %s FOR "  # MariaDB's way to bound a statement, in seconds and parts of them


@dataclass(frozen=True, slots=True)
class Done:
    """What a statement did."""

    # the rows of the answer
    rows: tuple[tuple[Any, ...], ...]
    # how many rows were found or changed
    touched: int
    # the number that the statement gave to LAST_INSERT_ID()
    last_insert_id: int


class _Here(threading.local):
    connection: PoolProxiedConnection | None = None  # of the transaction that this thread is in


class MySQL:
    """The client. Its exceptions are attributes: a lock can catch them without importing the library."""

    Error = pymysql.MySQLError
    Duplicate = Duplicate
    Deadlock = Deadlock
    TimedOut = TimedOut

    def __init__(self, endpoint: Endpoint, user: str = "root") -> None:
        """Make the pool. ``user`` is the user where the endpoint names none."""
        self.here = _Here()
        self.pool = _pool(endpoint, endpoint.user or user)

    def close(self) -> None:
        """Close all connections."""
        self.pool.dispose()

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has an open transaction."""
        return self.here.connection is not None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """BEGIN, and COMMIT at the end of the block, or ROLLBACK if it raises. Within another transaction: a part of that."""
        if self.in_transaction:
            yield
            return
        with self._borrowed() as connection:
            self.here.connection = connection
            try:
                self.execute("BEGIN")
                yield
                self.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                self.here.connection = None

    def execute(self, statement: str, *values: object) -> int:
        """Run a statement of the lock. Return how many rows it found or changed. Raises Error."""
        return self.query(statement, *values).touched

    def query(self, statement: str, *values: object) -> Done:
        """Run a statement that is not the lock's: no failpoint, no count. Raises Error."""
        if self.here.connection is not None:
            return _run(self.here.connection, statement, values)
        with self._borrowed() as connection:
            return _run(connection, statement, values)

    def lose_connection(self) -> None:
        """Break the connection of this thread's transaction."""
        if self.here.connection is not None:
            self.here.connection.invalidate()
            raise pymysql.OperationalError(LOST, "Lost connection to the server during query")

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


class GatedMySQL(MySQL):
    """The client for a lock: reaches the failpoints, and counts the lock's statements."""

    def execute(self, statement: str, *values: object) -> int:
        request_context.sending(pymysql.OperationalError)
        name = statement.removeprefix(WITHIN).partition(" ")[0]
        touched = super().execute(statement, *values)
        try:
            request_context.sent(name, _answer(name, touched), _meaning(name, touched))
        except ReplyLost:  # a reply is lost with its connection; a committed statement can be sent again on another
            self.lose_connection()
            request_context.sending_again()
            touched = super().execute(statement, *values)
            request_context.sent(name, _answer(name, touched), _meaning(name, touched))
        return touched


def _answer(name: str, touched: int) -> int | str:
    """Return the server's answer: how many rows. A COMMIT changes no row, but its OK does not mean that nothing was found."""
    return "OK" if name == "COMMIT" else touched


def _meaning(name: str, touched: int) -> Meaning:
    """Return what the answer to a statement means for a lock. The rows of a SELECT may hold anything."""
    if name in ("INSERT", "UPDATE", "REPLACE"):
        return Meaning.AGREED if touched else Meaning.REFUSED
    return Meaning.NOTHING if name in ("BEGIN", "START", "SAVEPOINT", "ROLLBACK", "SET") else Meaning.OPEN


def _run(connection: PoolProxiedConnection, statement: str, values: tuple[object, ...]) -> Done:
    if not connection.is_valid:
        raise pymysql.OperationalError(LOST, "the connection of this transaction is gone")
    try:
        with contextlib.closing(connection.cursor()) as cursor:
            touched: Any = cursor.execute(statement, values)
            return Done(tuple(cursor.fetchall()), touched, cursor.lastrowid or 0)
    except pymysql.MySQLError as error:
        kind = KINDS.get(error.args[0] if error.args else 0)
        if kind is None:
            raise
        raise kind(*error.args) from error


def _roll_back(connection: PoolProxiedConnection) -> None:
    """Roll back. A connection on which that fails is not used again."""
    if connection.is_valid:
        try:
            _run(connection, "ROLLBACK", ())
        except pymysql.MySQLError as error:
            connection.invalidate(error)


def _pool(endpoint: Endpoint, user: str) -> QueuePool:
    """Make a pool that connects on demand. It sends nothing by itself but a ping to a connection that was idle for long."""

    def connect() -> Any:
        where = {"host": endpoint.first.host, "port": endpoint.first.port, "database": endpoint.database or "lab"}
        return pymysql.connect(user=user, password=endpoint.password, **where, **CONNECTION_OPTIONS)

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


def connect(settings: Settings, journal: Journal) -> MySQL:
    """Make the client for a lock; without a journal a plain one.

    If the endpoint names no user, the user is the replica: the server's list of connections then shows the replica of each.
    """
    return (GatedMySQL if journal.on else MySQL)(settings.mysql_url, settings.replica)
