"""A statement of MariaDB as the words of a command, and back: ``DELETE 0.1 'DELETE FROM …' 'L'``.

The second word is the connection: the number of the client, its own number, and a t where it is in a transaction of its client.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Words

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
