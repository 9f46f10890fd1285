"""The servers of a store that serve several runs of a worker hold nothing of the run before."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import psycopg
import pymysql
import pytest
from kazoo.client import KazooClient

from app.endpoint import Endpoint
from app.journal import Journal
from app.stores.etcd import Etcd
from app.stores.postgresql import PostgreSQL
from lab.scenario import reader as scenarios
from lab.servers.programs.mariadb import ask
from lab.servers.stores import stores
from lab.servers.supervised import KeptServers

LONG_S = 100  # far longer than the test: a session that has ended did not end by itself
# a process that ends without closing its session at ZooKeeper: the session goes on
DIES = """
import os, sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1], timeout=float(sys.argv[2]))
client.start()
client.create("/lab:queue/n-", ephemeral=True, sequence=True, makepath=True)
client.create("/lab:stays", b"x")
print(client.client_id, flush=True)
os._exit(0)
"""


def in_etcd(url: str) -> Callable[[], bool]:
    """Leave a session with a key, and a key without a lease. Return whether anything is left."""
    client = Etcd(Endpoint.parse(url), Journal(None))
    session = client.session(LONG_S)
    assert session.create("lab:queue/1", "lab:queue/")
    lease = client.grant(LONG_S)
    client.plain().put("lab:other", "x")
    return lambda: any(client.delete(key) for key in ("lab:queue/1", "lab:other")) or client.keep_alive(lease)


def in_zookeeper(url: str) -> Callable[[], bool]:
    """Leave a session that is not closed, with a node of it and a node that stays. Return whether anything is left."""
    dead = subprocess.run([sys.executable, "-c", DIES, url, str(LONG_S)], capture_output=True, text=True, check=True, timeout=60)
    session = ast.literal_eval(dead.stdout)

    def left() -> bool:
        looking = KazooClient(url, client_id=session)
        looking.start()
        try:
            return looking.client_id == session or looking.get_children("/") != ["zookeeper"]
        finally:
            looking.stop()
            looking.close()

    return left


def in_mysql(url: str) -> Callable[[], bool]:
    """Leave a row, and a transaction that has locked another one. Return whether anything is left."""
    where = Endpoint.parse(url)
    about: dict[str, Any] = {"host": where.first.host, "port": where.first.port, "user": "replica-1", "database": where.database}
    holder = pymysql.connect(**about, ssl_disabled=True)
    with holder.cursor() as cursor:
        cursor.execute("INSERT INTO lock_table VALUES ('stays')")
        holder.commit()
        cursor.execute("INSERT INTO lock_table VALUES ('held')")

    def left() -> bool:
        with suppress(pymysql.Error):
            holder.ping(reconnect=False)
            return True
        return bool(ask(where.first.port, "SELECT * FROM lab.lock_table"))

    return left


def in_postgresql(url: str) -> Callable[[], bool]:
    """Leave a table, and a session with a lock. Return whether anything is left."""
    about = PostgreSQL(Endpoint.parse(url), Journal(None), "replica-1")
    holder = about.plain()
    holder.execute("CREATE TABLE stays ()")
    holder.execute("SELECT pg_advisory_lock(1)")

    def left() -> bool:
        with suppress(psycopg.Error):
            holder.execute("SELECT 1")
            return True
        found = about.query("SELECT to_regclass('stays') IS NOT NULL OR NOT pg_try_advisory_lock(1)")
        about.close()
        return found != [(False,)]

    return left


LEFT = [("etcd", in_etcd), ("zookeeper", in_zookeeper), ("mysql", in_mysql), ("postgresql", in_postgresql)]


@pytest.mark.parametrize(("store", "leave"), LEFT)
def test_nothing_reaches_the_next_run(supervisor, tmp_path, store, leave):
    """The next run gets the same servers, without the keys, sessions, rows and transactions that a killed client has left."""
    rush, logs = scenarios.load("rush"), tmp_path / "runs" / "a" / "logs"
    with closing(KeptServers()) as kept:
        with kept.lend(supervisor, store, rush, logs) as running:
            pids = [one.pid for one in running]
            left = leave(stores()[store].url(running))
        with kept.lend(supervisor, store, rush, logs) as running:
            assert [one.pid for one in running] == pids
            assert not left()
