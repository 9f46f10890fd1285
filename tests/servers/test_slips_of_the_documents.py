"""The slips in the documents' listings have the effects on a real server that the chapters name."""

from __future__ import annotations

from collections.abc import Iterator

import pymysql
import pytest
import redis

from app.settings import Endpoint

ENTER = """
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('hset', KEYS[1], ARGV[1], 1)
    redis.call('expire', KEYS[1], {first})
    return 1
end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('expire', KEYS[1], ARGV[2])
return 1
"""
FIXED, GIVEN = ENTER.format(first=30), ENTER.format(first="ARGV[2]")


@pytest.fixture
def store(redis_port):
    with redis.Redis(port=redis_port, decode_responses=True) as client:
        yield client


def test_first_entry_ignores_the_given_expiry(store, key):
    """With the printed 30, a caller that asks for 5 s gets 30 s, and 5 s only when it enters again."""
    assert store.eval(FIXED, 1, key, "me", 5) == 1
    first_s = store.ttl(key)
    store.eval(FIXED, 1, key, "me", 5)

    assert (first_s, store.ttl(key)) == (30, 5)


def test_expiry_below_a_second_is_no_lock(store, key):
    """``int(seconds)`` of half a second is 0: the acquire reports success, and the key is gone."""
    assert store.eval(GIVEN, 1, key, "me", int(0.5)) == 1
    assert store.exists(key) == 0


def test_renewal_below_a_second_deletes_the_lock(store, key):
    """A renewal for ``int(seconds)`` of half a second deletes the lock, because EXPIRE with 0 deletes a key."""
    store.set(key, "me", px=500)
    store.expire(key, int(0.5))

    assert store.exists(key) == 0


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("// a comment of another language\nreturn 1", "unexpected symbol near '/'"),
        ("if redis.call('exists', KEYS[1]) == 1 then return 1 else return 0", "'end' expected"),
        ("return redis.call('hexists', KEYS[1], ARGV[1], 1)", "Wrong number of args"),
    ],
    ids=["comment", "end", "hexists"],
)
def test_script_that_redis_refuses(store, key, script, message):
    """Redis compiles a script before it runs any of it, and refuses a script with an error and a command with too many words."""
    with pytest.raises(redis.ResponseError, match=message):
        store.eval(script, 1, key, "me")


@pytest.fixture
def connection(mysql_url) -> Iterator[pymysql.Connection]:
    """Yield a connection to a table of two rows, without an index on the name."""
    where = Endpoint.parse(mysql_url)
    with pymysql.connect(host=where.first.host, port=where.first.port, user="root", database="lab", autocommit=True) as made:
        made.cursor().execute("CREATE OR REPLACE TABLE test_slips (id INT PRIMARY KEY, name CHAR(1)) ENGINE=InnoDB")
        made.cursor().execute("INSERT INTO test_slips VALUES (1, 'a'), (2, 'b')")
        yield made


@pytest.mark.parametrize(
    ("level", "index", "locked"),
    [("REPEATABLE READ", False, True), ("REPEATABLE READ", True, False), ("READ COMMITTED", False, False)],
)
def test_a_search_without_an_index_locks_the_table(connection, mysql_url, level, index, locked):
    """At the default isolation level, a search without an index locks all rows that it read, and not only its result."""
    if index:
        connection.cursor().execute("CREATE INDEX by_name ON test_slips (name)")
    connection.cursor().execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
    connection.begin()
    connection.cursor().execute("SELECT * FROM test_slips WHERE name = 'a' FOR UPDATE")

    where = Endpoint.parse(mysql_url)
    with pymysql.connect(host=where.first.host, port=where.first.port, user="root", database="lab") as other:
        try:
            other.cursor().execute("SELECT * FROM test_slips WHERE id = 2 FOR UPDATE NOWAIT")
            refused = False
        except pymysql.OperationalError:
            refused = True

    connection.rollback()
    assert refused is locked
