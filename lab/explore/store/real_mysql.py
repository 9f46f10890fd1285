"""A real MariaDB server for the explorer alone. A place in it is a prefix of all texts that a statement is given: names of
rows.

Each connection of a client is a connection of the server. A statement that waits stays in the server, with its transaction,
and its answer is taken when it has come. Who waits is known from the server: after each statement, all connections are asked
until each has answered, or its transaction is in LOCK WAIT. The limit of a wait is the search's: the server gets a long one,
and its statement is killed when the clock says so.

Sources: MariaDB, "SHOW ENGINE INNODB STATUS" (``information_schema.INNODB_TRX`` is a copy that is up to 0.1 s old), "KILL
QUERY".

A statement is the words of a command: ``DELETE 0.1 'DELETE FROM …' 'L'``. The second word is the connection: the number of the
client, its own number, and a t where it is in a transaction of its client.
"""

from __future__ import annotations

import ast
import re
import select
import time
from typing import Any, NamedTuple

import pymysql
from pymysql.constants import COMMAND, SERVER_STATUS

from lab.explore.store.commands import WAITING
from lab.explore.store.histories import GIVES_UP, LEFT, Done, Item, RealStore, Shape, StorePlace
from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Reply, Words

MOST_PLACES = 1  # rows of two places are neighbours, and locks of gaps would meet
ANSWERS_WITHIN_S = 20.0
LOOKS_EVERY_S = 0.002
TIME_IS_OVER = 1969, "Query execution was interrupted (max_statement_time exceeded)"
LOCK_WAIT = re.compile(r"thread id (\d+),")
NAMED_LOCK = re.compile(r"\b(?:GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS)\s*\(", re.IGNORECASE)
USER_LOCK = "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'"
ROWS = {"": "SELECT * FROM lock_table WHERE lock_name LIKE %s", "counter ": "SELECT * FROM counter WHERE name LIKE %s"}


class RealMariaDB(RealStore):
    """The server."""

    most_places = MOST_PLACES

    def __init__(self, host: str, port: int) -> None:
        self._address = {"host": host, "port": port, "user": "root", "database": "lab", "autocommit": True, "ssl_disabled": True}
        self._free: list[Any] = []  # connections that are in no transaction
        self._committed, self._uncommitted = self._connection("READ COMMITTED"), self._connection("READ UNCOMMITTED")
        self.version = f"MariaDB {self.rows('SELECT VERSION()')[0][0].partition('-')[0]}"

    def _connection(self, isolation: str = "READ COMMITTED") -> Any:
        setting = f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"
        return pymysql.Connection(**self._address, init_command=setting, read_timeout=ANSWERS_WITHIN_S)

    def place(self) -> MariaDBPlace:
        """Return a fresh prefix."""
        return MariaDBPlace(self, f"{self.new_name()}:")

    def sends_again(self, command: Words) -> bool:
        """Return whether a statement is sent again: one in a transaction is lost with its connection."""
        return not command[1].endswith(b"t")

    def connection_of(self, command: Words) -> bytes:
        """Return the connection of a statement: its transaction ends with it."""
        return command[1].rstrip(b"t")

    def take(self) -> Any:
        """Return a connection that nobody uses."""
        return self._free.pop() if self._free else self._connection()

    def give(self, connection: Any) -> None:
        """Take a connection back: its transaction is rolled back, and the locks by name are released."""
        for statement in ("ROLLBACK", "SELECT RELEASE_ALL_LOCKS()"):
            connection.query(statement)
        self._free.append(connection)

    def rows(self, statement: str, *values: object, committed: bool = True) -> tuple[tuple[Any, ...], ...]:
        """Return the rows of a statement of the explorer's own."""
        with (self._committed if committed else self._uncommitted).cursor() as cursor:
            cursor.execute(statement, values)
            return tuple(cursor.fetchall())

    def waiting(self) -> set[int]:
        """Return the numbers of the connections whose statements wait for a lock."""
        status = self.rows("SHOW ENGINE INNODB STATUS")[0][2]
        blocks = status.partition("LIST OF TRANSACTIONS")[2].split("---TRANSACTION")
        rows = {int(found[1]) for block in blocks if "LOCK WAIT" in block and (found := LOCK_WAIT.search(block))}
        return rows | {number for (number,) in self.rows(USER_LOCK)}

    def has_named_lock(self, one: _Connection) -> bool:
        """Return whether a statement that seems to wait for a lock by name has it: its thread may wake up late."""
        if one.waits is None or not NAMED_LOCK.search(one.waits.template):
            return False
        names = [value for value in one.waits.values if isinstance(value, str)]
        return any(self.rows("SELECT IS_USED_LOCK(%s)", name)[0][0] == one.number for name in names)

    def close(self) -> None:
        """Close all connections."""
        for one in (*self._free, self._committed, self._uncommitted):
            one.close()


class _Connection:
    """A connection of a client."""

    def __init__(self, real: RealMariaDB) -> None:
        self.wire = real.take()
        self.number: int = self.wire.thread_id()
        self.waits: Statement | None = None  # the statement that has no answer yet
        self.answer: Reply | None = None  # to it, where it has come and nobody has taken it
        self.memory: list[str] = []  # what its transaction has done, and what it has answered

    def send(self, statement: Statement) -> None:
        self.waits = statement
        self.wire._execute_command(COMMAND.COM_QUERY, statement.text(self.wire).encode())  # noqa: SLF001 - without waiting

    def has_answer(self, within_s: float) -> bool:
        return bool(select.select([self.wire._sock], [], [], within_s)[0])  # noqa: SLF001 - as above

    def read(self, prefix: str) -> None:
        """Take the answer to the statement, which has come."""
        statement = self.waits
        assert statement is not None  # noqa: S101 - only then something comes
        try:
            touched = self.wire._read_query_result()  # noqa: SLF001 - as above
            result = self.wire._result  # noqa: SLF001 - as above
            rows = tuple([tuple([_without(one, prefix) for one in row]) for row in result.rows or ()])
            raw: Any = ("ok", rows, touched, result.insert_id or 0)
        except pymysql.MySQLError as error:
            raw = ("error", int(error.args[0]), _without(str(error.args[1]), prefix))
        self.answer, self.waits = Reply(raw, shown(raw)), None
        self.memory.append(f"{statement.here} {raw}")
        if not self.wire.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
            self.memory = [one for one in self.memory if NAMED_LOCK.search(one)]


class MariaDBPlace(StorePlace):
    """A prefix of the rows' names, and the connections that use them. The server ends a wait for a row after 120 s."""

    def __init__(self, real: RealMariaDB, prefix: str) -> None:
        super().__init__()
        self.real, self.prefix = real, prefix
        self._connections: dict[bytes, _Connection] = {}

    def do(self, command: Words) -> Done:
        """Execute a statement, or take the answer to the one that waits."""
        self.use()
        if command[0] == LEFT:
            self._left(command[1], command[2])
            self._settle()
            return Done(Reply(b"", b""))
        if command[0] == GIVES_UP:
            return self._given_up(command[1:])
        name = command[1].rstrip(b"t")
        if name not in self._connections:
            self._connections[name] = _Connection(self.real)
        mine = self._connections[name]
        if mine.waits is None and mine.answer is None:
            mine.send(statement_of(command, self.prefix))
        self._settle()
        answer, mine.answer = mine.answer, None
        return Done(WAITING if answer is None else answer)

    def _settle(self) -> None:
        """Wait until each statement is answered, or waits for a lock."""
        until_s, seen = time.monotonic() + ANSWERS_WITHIN_S, 0
        while open_ones := [one for one in self._connections.values() if one.waits is not None]:
            for one in open_ones:
                if one.has_answer(LOOKS_EVERY_S):
                    one.read(self.prefix)
                    seen = 0
            left = [one for one in self._connections.values() if one.waits is not None]
            stays = left and {one.number for one in left} <= self.real.waiting() and not any(map(self.real.has_named_lock, left))
            seen = seen + 1 if stays else 0
            if seen == 2:  # a deadlock is found after a wait has begun
                return
            if time.monotonic() > until_s:
                raise TimeoutError("a statement neither ends nor waits for a lock")

    def _given_up(self, command: Words) -> Done:
        mine = self._connections[command[1].rstrip(b"t")]
        self._kill(mine)
        mine.answer = None
        mine.memory[-1:] = [f"{statement_of(command, '').here} {TIME_IS_OVER}"]
        self._settle()
        raw: Any = ("error", *TIME_IS_OVER)
        return Done(Reply(raw, shown(raw)))

    def _kill(self, one: _Connection) -> None:
        if one.waits is not None:
            self.real.rows(f"KILL QUERY {one.number}")
            one.read(self.prefix)

    def _left(self, client: bytes, connection: bytes) -> None:
        """End the connections of a client, or one of them."""
        for name in list(self._connections):
            if name == connection or (connection == b"0" and name.partition(b".")[0] == client):
                one = self._connections.pop(name)
                self._kill(one)
                self.real.give(one.wire)

    def read(self) -> Shape:
        """Return the rows, committed and not, and what the open transactions have done."""
        items: list[Item] = []
        for kind, statement in ROWS.items():
            committed, all_rows = (self.real.rows(statement, f"{self.prefix}%", committed=one) for one in (True, False))
            items += [Item(f"{kind}{row[0].removeprefix(self.prefix)}".encode(), repr(row[1:]).encode()) for row in committed]
            if all_rows != committed:
                items.append(Item(f"uncommitted {kind}".encode(), repr([_here(row, self.prefix) for row in all_rows]).encode()))
        open_ones = [
            (name, one.memory, one.waits and one.waits.here, one.answer) for name, one in sorted(self._connections.items())
        ]
        rest = [one for one in open_ones if any(one[1:])]
        return Shape(tuple(items), (), repr(rest).encode() if rest else b"")

    def close(self) -> None:
        """Roll back what is open. The rows stay: to delete them could wait for those of another place."""
        for name in list(self._connections):
            self._left(b"", name)


def _without(value: Any, prefix: str) -> Any:
    return value.replace(prefix, "") if isinstance(value, str) else value


def _here(row: tuple[Any, ...], prefix: str) -> tuple[Any, ...]:
    return tuple([_without(one, prefix) for one in row])


LIMIT = re.compile(r"SET\s+STATEMENT\s+max_statement_time\s*=\s*%s", re.IGNORECASE)
NO_LIMIT_S = 3600
NAME = re.compile(r"\s*(?:SET\s+STATEMENT\s.*?\sFOR\s+)?(\w+)", re.IGNORECASE | re.DOTALL)


class Statement(NamedTuple):
    """A statement with its values."""

    template: str
    values: tuple[Any, ...]
    # as a client sends it, with its values
    here: str

    def text(self, connection: Any) -> str:
        """Return it as the server gets it."""
        return self.template % tuple([connection.escape(one) for one in self.values]) if self.values else self.template


def words_of(connection: bytes, template: str, values: tuple[Any, ...]) -> Words:
    """Return a statement as words."""
    found = NAME.match(template)
    text = " ".join(template.split())
    return ((found[1].upper() if found else "").encode(), connection, text.encode(), *[repr(one).encode() for one in values])


def limit_s(template: str, values: tuple[Any, ...]) -> float | None:
    """Return after how many seconds the server ends a statement; None without a limit."""
    return float(values[0]) if LIMIT.match(template) and values else None


def statement_of(words: Words, prefix: str) -> Statement:
    """Return the statement that words stand for. All texts among its values begin with a prefix."""
    template, values = words[2].decode(), tuple([ast.literal_eval(word.decode()) for word in words[3:]])
    there = [prefix + one if isinstance(one, str) else one for one in values]
    if LIMIT.match(template) and there:
        there[0] = NO_LIMIT_S
    return Statement(template, tuple(there), f"{template} {values}" if values else template)


def counted(contents: Contents, name: str) -> int:
    """Return what the counter of a name reads, of those who look at it from outside."""
    value = next((key.value for key in contents if key.name == f"counter {name}".encode()), b"")
    found = re.match(rb"\((\d+)", value)
    return int(found[1]) if found else 0


def shown(raw: Any) -> bytes:
    """Return an answer as a reader sees it."""
    if raw[0] == "error":
        return f"error {raw[1]}: {raw[2]}".encode()
    _, rows, touched, _ = raw
    return f"{', '.join(map(str, rows))}".encode() if rows else f"{touched} rows".encode()
