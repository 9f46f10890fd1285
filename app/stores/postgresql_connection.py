"""The connections of a lock to PostgreSQL: here statements are counted, and faults are injected.

Every statement that psycopg sends for its users goes through one of two generators: of its cursors, or of its connections for
BEGIN, COMMIT and the like. Both are replaced in the whole process. So a connection counts whichever library made it, if it leads
to a server of the lock. The statements of a client in C, such as psycopg2, are not counted here, but by the server.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import psycopg
from psycopg import BaseConnection
from psycopg._cursor_base import BaseCursor

from app.failpoints.injection import ReplyLost
from app.request.answer import Meaning, granted_in
from app.request.context import COUNTING, here
from app.settings import Address
from app.stores.statements import asks_by_name, meaning, name_of, renews

ENDED_BY_THE_SERVER = ("57P", "08")  # the first characters of SQLSTATE: the connection is gone, and nothing was answered
REFUSALS = ("23505", "55P03")  # the unique key is taken; the lock was not free within lock_timeout, or with NOWAIT
NO = (None, b"f", b"\x00")  # false, as text and in binary form
SERVERS: set[tuple[str, int]] = set()  # statements to these servers are counted, whichever connection of this process sends them
BY_CURSOR: Any = BaseCursor._maybe_prepare_gen  # noqa: SLF001 - psycopg has no hook for sent statements
BY_CONNECTION: Any = BaseConnection._exec_command  # noqa: SLF001 - as above
Steps = Generator[Any, Any, Any]


def count_all(addresses: Iterable[Address]) -> None:
    """Count the statements of each connection of psycopg in this process to the server of the lock."""
    for address in addresses:
        for *_, place in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM):
            SERVERS.add((str(place[0]), int(place[1])))
    BaseCursor._maybe_prepare_gen = _by_cursor  # type: ignore[method-assign, assignment] # noqa: SLF001 - as above
    BaseConnection._exec_command = _by_connection  # type: ignore[method-assign, assignment] # noqa: SLF001 - as above


def _by_cursor(cursor: Any, query: Any, **options: Any) -> Steps:
    steps = BY_CURSOR(cursor, query, **options)
    words = (query.query, *(query.params or ()))
    return (yield from _counted(cursor.connection, query.query, steps, lambda: cursor.pgresult, words))


def _by_connection(connection: Any, command: Any, *args: Any, **options: Any) -> Steps:
    text = command.as_bytes(connection) if hasattr(command, "as_bytes") else command
    steps = BY_CONNECTION(connection, command, *args, **options)
    return (yield from _counted(connection, text, steps, lambda: None))


def _counted(connection: Any, text: bytes | str, steps: Steps, result: Callable[[], Any], words: Sequence[Any] = ()) -> Steps:
    """Run the steps of psycopg that send a statement and wait for its result, and note the statement and the result.

    words: the statement and its values.
    """
    statement = text.decode(errors="replace") if isinstance(text, bytes) else text
    name = name_of(statement)
    if not COUNTING.get() or not _is_of_the_lock(connection):
        return (yield from steps)
    here().sending(name, error=psycopg.OperationalError)
    try:
        done = yield from steps
    except psycopg.Error as error:
        _failed(name, error)
        raise
    # in a pipeline, the answer comes later, and only the lock knows it
    in_a_pipeline = connection.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF
    answer = "" if in_a_pipeline else _answer(name, statement, result())
    means = Meaning.OPEN if in_a_pipeline else meaning(name, statement, answer)
    key = granted_in(b" ".join(word for word in words if word is not None).decode(errors="replace"))
    try:
        here().answered(name, answer, means, subject=key, prolongs=renews(name, statement))
    except ReplyLost as lost:
        connection.pgconn.finish()
        raise psycopg.OperationalError("the connection is closed: the reply was lost") from lost
    return done


def _is_of_the_lock(connection: Any) -> bool:
    """Return whether a connection leads to a server of the lock. The answer is kept at the connection."""
    if not hasattr(connection, "is_of_the_lock"):
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            connection.is_of_the_lock = line.family != socket.AF_UNIX and line.getpeername()[:2] in SERVERS
    return bool(connection.is_of_the_lock)


def _failed(name: str, error: psycopg.Error) -> None:
    """Note an error: an error of the server is an answer, an error of the connection is none."""
    if error.sqlstate is None or error.sqlstate.startswith(ENDED_BY_THE_SERVER):
        here().answered(name, error)
    else:
        means = Meaning.REFUSED if error.sqlstate in REFUSALS else Meaning.NOTHING
        here().answered(name, f"error: {error.sqlstate}", means)


def _answer(name: str, statement: str, result: Any) -> Any:
    """Return the server's answer: the number of rows; for a lock by name, 0 if the server returned false, otherwise 1.

    A function that waits for its lock returns no value at all: that is a yes. For a COMMIT or ROLLBACK the answer is OK.
    """
    if name in ("COMMIT", "ROLLBACK"):
        return "OK"
    if result is None:
        return 0
    if asks_by_name(name, statement) and result.ntuples:
        return int(result.get_value(0, 0) not in NO)
    return result.ntuples or result.command_tuples or 0
