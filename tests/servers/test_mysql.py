"""Locks in a real MariaDB: rows, transactions and connections."""

from __future__ import annotations

import pytest

from app.increment import Increment
from app.journal import Journal, Writing, Wrote
from app.lock import Grant, Refused
from app.locks import stages
from app.locks.mysql_upsert import UPSERT
from app.resources.mysql_row import Counter as Row
from app.resources.mysql_versioned import Counter as Versioned
from app.settings import Endpoint, Settings
from app.stores import lock_store
from app.stores.mysql import MySQL
from lab.evidence.history import History

ALL = stages()
GRANT = Grant("")


@pytest.fixture(params=["not counted", "counted"])
def store(request, mysql_url):
    client = lock_store("mysql", Settings(mysql_url=Endpoint.parse(mysql_url)), request.param == "counted")
    yield client
    client.pool.dispose()


@pytest.fixture
def other(mysql_url):
    """Yield the client of another replica."""
    client = MySQL(Endpoint.parse(mysql_url))
    yield client
    client.pool.dispose()


def lock(name, store, key, wait_ms=5000):
    return ALL[name].lock(store, key, 0, wait_ms, 5)


def rows(store, key) -> int:
    return store.query("SELECT lock_name FROM lock_table WHERE lock_name = %s", key).touched


def kill(other, number) -> None:
    other.query(f"KILL CONNECTION {number}")


def connection_of(store) -> int:
    return store.query("SELECT CONNECTION_ID()").rows[0][0]


def test_failed_holder_deletes_its_row(store, other, key):
    """The release deletes the inserted row, also of a holder that fails."""
    lock("mysql_insert", store, key).run(lambda grant: None)
    assert rows(other, key) == 0

    with pytest.raises(ZeroDivisionError):
        lock("mysql_insert", store, key).run(lambda grant: 1 / 0 if rows(other, key) else None)
    assert rows(other, key) == 0


def test_failed_holder_releases_a_row_lock(store, other, key):
    """A holder that fails releases its row lock."""
    with pytest.raises(ZeroDivisionError):
        lock("mysql_for_update", store, key).run(lambda grant: 1 / 0)

    assert lock("mysql_for_update", other, key, wait_ms=1000).run(lambda grant: "in") == "in"
    assert not store.in_transaction


def test_failed_transaction_leaves_no_write(store, other, key):
    """A write in a transaction is undone if its holder fails."""
    counter = Row(store, key)

    def work(grant):
        counter.write(counter.read(grant) + 1, grant)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lock("mysql_for_update", store, key).run(work)

    assert Row(other, key).parts() == {"": 0}


def test_dead_idle_connection_is_replaced(store, other, monkeypatch):
    """The pool does not give out a connection that died while it was idle."""
    monkeypatch.setattr("app.stores.mysql.PING_AFTER_S", 0)
    first = connection_of(store)
    kill(other, first)

    assert connection_of(store) != first


def test_refused_write_is_tried_again(store, key):
    """A refused write is tried again from the new value, until the tries or the time are used up."""
    counter, tries = Versioned(store, key), []

    def work(grant):
        value = counter.read(grant)
        tries.append(value)
        if len(tries) < 3:
            store.query("UPDATE counter SET value = value + 10, version = version + 1 WHERE name = %s", key)
        return counter.write(value + 1, grant)

    assert lock("mysql_version", store, key).run(work).value == 21
    assert tries == [0, 10, 20]

    tries.clear()
    with pytest.raises(Refused):
        lock("mysql_version", store, key, wait_ms=-1).run(work)
    assert len(tries) == 1


@pytest.mark.parametrize("counter", [Row, Versioned])
def test_a_write_tells_what_it_overwrote(store, key, counter):
    one = counter(store, key)

    overwrote = [one.write(one.read(GRANT) + 5, GRANT).overwrote for _ in range(3)]

    assert overwrote == [0, 5, 10]


@pytest.fixture
def increment(mysql_url, tmp_path):
    """Yield a function that does one increment under mysql_for_update. meddle: called after the write, before the commit."""
    (tmp_path / "journal").mkdir()
    journal = Journal(tmp_path / "journal" / "replica-1.jsonl")
    store = lock_store("mysql", Settings(mysql_url=Endpoint.parse(mysql_url)), counted=True)

    def run(key, request, meddle=lambda store: None):
        class Meddled(Row):
            def write(self, value, grant):
                done = super().write(value, grant)
                meddle(store)
                return done

        return Increment(request, Meddled(store, key), journal, 0).run(lambda: lock("mysql_for_update", store, key))

    yield run
    store.pool.dispose()


def events(tmp_path, request, kind):
    return [event for _, _, event in History(tmp_path).stamped() if event.request == request and isinstance(event, kind)]


def test_journal_follows_the_commit(increment, other, key, tmp_path):
    """A write in a transaction is journalled after the commit, and not when the commit fails."""
    increment(key, "r1")
    with pytest.raises(MySQL.Error):
        increment(key, "r2", meddle=lambda store: kill(other, connection_of(store)))
    increment(key, "r3")

    assert [len(events(tmp_path, request, Writing)) for request in ("r1", "r2", "r3")] == [1, 1, 1]
    assert [len(events(tmp_path, request, Wrote)) for request in ("r1", "r2", "r3")] == [1, 0, 1]
    assert Row(other, key).parts() == {"": 2}


def test_upsert_in_a_transaction_is_a_lock(store, other, key):
    """In a transaction, the upsert makes a second request wait for the row; without a transaction, it does not."""
    statement = "SET STATEMENT max_statement_time = %s FOR " + UPSERT
    assert store.execute(statement, 0.2, key) == 1
    assert other.execute(statement, 0.2, key) == 0

    with store.transaction():
        store.execute(statement, 0.2, key)
        with pytest.raises(MySQL.TimedOut):
            other.execute(statement, 0.2, key)
