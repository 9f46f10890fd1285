"""Test the meaning of commands, SQL statements and their answers for a lock."""

import pytest

from app.request.answer import Meaning
from app.stores import statements
from app.stores.redis_commands import keys, meaning, prolongs, script, unpacked, words
from tests.every import every


@every(
    "command, answer, means",
    [
        (("SET", "k", "v", "NX", "PX", 5), None, "REFUSED"),
        (("SET", "k", "v", "NX", "PX", 5), True, "AGREED"),
        (("SET", "k", "v", "NX", "GET"), None, "OPEN"),
        (("SETNX", "k", "v"), False, "REFUSED"),
        (("EXEC",), None, "REFUSED"),
        (("BLPOP", "k", 1), None, "REFUSED"),
        (("GET", "k"), None, "LOOKED"),
        (("GET", "k"), "token", "LOOKED"),
        (("WATCH", "k"), True, "NOTHING"),
        (("EVALSHA", "hash", 1, "k"), None, "OPEN"),
        (("EVALSHA", "hash", 1, "k"), 0, "OPEN"),
        (("EVAL", "return 0", 1, "k"), 0, "OPEN"),
        (("FCALL", "name", 1, "k"), 0, "OPEN"),
        (("INCR", "k"), 2, "OPEN"),
    ],
)
def test_meaning(command, answer, means):
    """An answer is a refusal only if it can mean nothing else; the answer of a script is never a refusal."""
    assert meaning(command, answer).name == means


def test_key_and_script():
    """The script and the keys are read from the words of a command; a command without them gives empty values."""
    assert (script(("EVALSHA", "hash", 1, "k", "v")), keys(("EVALSHA", "hash", 1, "k", "v"))) == ("hash", ("k",))
    assert (script(("GET", "k")), keys(("GET", "k"))) == ("", ("k",))
    assert keys(("PING",)) == ()


def test_words():
    """The name of a command is put in capitals, and a name with a space becomes two words."""
    assert words(("GET", "k")) == ("GET", "k")
    assert words((b"get", "k")) == ("GET", "k")
    assert words(("SCRIPT LOAD", "text")) == ("SCRIPT", "LOAD", "text")


def test_unpacked():
    """All commands are read from the bytes of a pipeline, also if a word contains an end of line."""
    packed = b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nset\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n*1\r\n$4\r\nEXEC\r\n"

    assert unpacked(packed) == [("MULTI",), ("SET", b"k", b"a\r\nb"), ("EXEC",)]


@every(
    "command, expected",
    [
        (("SETNX", "lock", "token"), False),
        (("SET", "lock", "NX", "XX", "PX", 300), True),
        (("PEXPIRE", "lock", 300), True),
        (("GETEX", "lock", "PX", 300), True),
        (("EVALSHA", "hash", 1, "lock"), True),
        (("EVALSHA_RO", "hash", 1, "lock"), False),
        (("PEXPIRETIME", "lock"), False),
        (("SET", "lock", "token", "XX", "KEEPTTL"), False),
        (("HSET", "lock", "progress", 1), False),
        (("DEL", "lock"), False),
    ],
)
def test_command_that_prolongs_a_lease(command, expected):
    """Only a command that sets a TTL, or a script that may set one, prolongs a lease."""
    assert prolongs(command) is expected


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
    """The name of a statement is its first word; the answer to a change of a row, or about a named lock, is a clear yes or no."""
    assert (statements.name_of(statement), statements.meaning(name, statement, answer)) == (name, means)


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
    """Only a statement that can change an existing row can prolong a lease."""
    assert statements.renews(statements.name_of(statement), statement) is prolongs
