"""Tell the name of an SQL statement, and the meaning of its answer for a lock, for all databases."""

from __future__ import annotations

import re

from app.request.answer import Meaning

# the first word of a statement, after comments and after MariaDB's prefix with a time limit
NAME = re.compile(r"(?:\s|/\*.*?\*/|\()*(?:SET\s+STATEMENT\s.*?\sFOR\s+)?\(?\s*(\w+)", re.IGNORECASE | re.DOTALL)
LOCKS_ROWS = re.compile(r"\bFOR\s+(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b", re.IGNORECASE)
NAMED_LOCK = re.compile(r"\b(?:GET_LOCK|RELEASE_LOCK|pg_(?:try_)?advisory_\w+)\s*\(", re.IGNORECASE)
UPSERTS = re.compile(r"\bON\s+(?:CONFLICT|DUPLICATE\s+KEY)\b", re.IGNORECASE)
NOT_ABOUT_THE_LOCK = ("BEGIN", "START", "SAVEPOINT", "RELEASE", "ROLLBACK", "SET", "RESET", "USE", "SHOW", "CREATE")


def name_of(statement: str) -> str:
    """Return the name of a statement: its first word."""
    match = NAME.match(statement)
    return match[1].upper() if match else ""


def asks_by_name(name: str, statement: str) -> bool:
    """Return whether a statement asks for a lock by name, or gives it back: its answer is then the one value of its row."""
    return name == "SELECT" and NAMED_LOCK.search(statement) is not None


def renews(name: str, statement: str) -> bool:
    """Return whether a statement can prolong a lease in a row: it changes an existing row."""
    return name in ("UPDATE", "REPLACE") or (name == "INSERT" and UPSERTS.search(statement) is not None)


def meaning(name: str, statement: str, answer: object) -> Meaning:
    """Return the meaning of an answer for a lock. The rows of a SELECT may hold anything."""
    if name in ("INSERT", "UPDATE", "REPLACE") or asks_by_name(name, statement):
        return Meaning.AGREED if answer else Meaning.REFUSED
    if name == "SELECT" and not LOCKS_ROWS.search(statement):
        return Meaning.LOOKED
    return Meaning.NOTHING if name in NOT_ABOUT_THE_LOCK else Meaning.OPEN
