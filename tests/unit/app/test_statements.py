"""What a statement is called, and what its answer means."""

from __future__ import annotations

import pytest

from app.answer import Meaning
from app.stores.statements import meaning, name_of, renews


@pytest.mark.parametrize(
    ("statement", "answer", "name", "means"),
    [
        ("select pg_try_advisory_lock(1)", 1, "SELECT", Meaning.AGREED),
        ("/* mine */ SELECT pg_try_advisory_xact_lock (1)", 0, "SELECT", Meaning.REFUSED),
        ("(SELECT RELEASE_LOCK('a'))", 0, "SELECT", Meaning.REFUSED),
        ("SELECT version()", 1, "SELECT", Meaning.LOOKED),
        ("SELECT 1 FROM t FOR UPDATE", 1, "SELECT", Meaning.OPEN),
        ("SET STATEMENT max_statement_time = 1 FOR INSERT IGNORE INTO t VALUES (1)", 0, "INSERT", Meaning.REFUSED),
        ("BEGIN", 0, "BEGIN", Meaning.NOTHING),
        ("RELEASE SAVEPOINT a", 0, "RELEASE", Meaning.NOTHING),
        ("", 0, "", Meaning.OPEN),
    ],
)
def test_statements(statement, answer, name, means):
    """The first word is the name; a lock by name is granted or refused, and of other rows only the lock knows."""
    assert (name_of(statement), meaning(name, statement, answer)) == (name, means)


@pytest.mark.parametrize(
    ("statement", "prolongs"),
    [
        ("UPDATE leases SET ends = now() WHERE name = 'a'", True),
        ("INSERT INTO leases VALUES ('a') ON CONFLICT (name) DO UPDATE SET ends = now()", True),
        ("INSERT INTO leases VALUES ('a') ON DUPLICATE KEY UPDATE ends = now()", True),
        ("INSERT INTO log VALUES ('a')", False),
        ("DELETE FROM leases", False),
    ],
)
def test_statement_that_renews(statement, prolongs):
    """Only what changes a row that is there can prolong a lease."""
    assert renews(name_of(statement), statement) is prolongs
