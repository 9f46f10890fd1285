"""Locks of libraries, and locks with clients of their own: their commands are counted, and faults are injected into them."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import msgspec
import pymysql
import pytest
import redis
from kazoo.client import KazooClient

from app.failpoints import Injection
from app.failpoints.injection import Failpoints
from app.foreign.wire.own_client import LaneLock
from app.increment import Increment
from app.journal import AnyEvent, Got, Journal, Released, Renewed
from app.lock import NotAcquired
from app.locks import stage as load_stage
from app.request.context import RequestContext, begin, end, here
from app.resources.read_then_write import Counter
from app.settings import Endpoint, Settings
from app.stores import lock_store, redis_nodes
from app.stores.redis import counter_redis
from lab.paths import HOME
from tests.spy import Spy

SUBSCRIBES, OWN_SOCKETS = "tests/servers/foreign/subscribes", "tests/servers/foreign/own_sockets"
WATCHES, GET_LOCK, REDLOCK = (
    "corpus/sound/transactions",
    "corpus/trial/sound/get_lock_by_a_pool",
    "corpus/trial/sound/redlock_one_by_one",
)
BY_LANE = ", by a lane"
SESSION = ("ping", "connect")  # the commands that keep a session of ZooKeeper alive, outside all requests
# how many commands an acquire without waiting and a release send
COMMANDS = {
    "corpus/sound/client_of_its_own": (1, 1),
    "corpus/sound/token_in_a_list": (2, 1),  # EVALSHA, BLPOP; RPUSH
    WATCHES: (5, 5),  # WATCH, GET, MULTI, SET, EXEC; the same with DEL
    GET_LOCK: (1, 1),
    REDLOCK: (5, 5),  # one for each node
    "libraries/pypi_etcd3gw": (2, 1),  # LeaseGrant, Txn; Txn
    "libraries/pypi_kazoo_lock": (3, 1),  # exists for the folder, create, getChildren; delete
    "libraries/pypi_psycopg": (2, 1),  # set_config, pg_advisory_lock; pg_advisory_unlock
    "libraries/pypi_redis": (1, 1),
    "libraries/pypi_redis_asyncio": (1, 1),
    OWN_SOCKETS: (1, 1),
    SUBSCRIBES: (2, 1),  # SUBSCRIBE, SET; EVALSHA
}
# the commands of redis-py are counted on a lane as well, and only once
LANES = [f"{name}{BY_LANE}" for name in COMMANDS if load_stage(str(HOME / f"{name}.py")).store in ("redis", "redis_nodes")]
NAMES = [name for name in (*COMMANDS, *LANES) if not name.startswith(REDLOCK)]  # it asks all its servers in any case


class Lab:
    """One replica: its locks, their stores, its journal, and the faults to inject."""

    def __init__(self, folder: Path, urls, monkeypatch, journal: Journal) -> None:
        self.folder = folder
        self.urls = urls
        self.monkeypatch = monkeypatch
        self.journal = journal
        monkeypatch.setattr(RequestContext, "journal", journal)
        self.stores = {}
        # tests with a browser leave an event loop in the main thread, where asyncio refuses a second one
        self.thread = ThreadPoolExecutor(1)
        self.key = f"lab:test:{uuid4().hex}"

    def store(self, name: str):
        if name not in self.stores:
            where = {f"{name}_url": Endpoint.parse(self.urls(name))}
            self.stores[name] = lock_store(name, Settings(**where), counted=True)
        return self.stores[name]

    def lock(self, name: str, wait_ms: int = 5000):
        stage = load_stage(str(HOME / f"{name.removesuffix(BY_LANE)}.py"))
        store = self.store(stage.store)
        if stage.by_lane or name.endswith(BY_LANE):
            settings = Settings(**{f"{stage.store}_url": Endpoint.parse(self.urls(stage.store))})
            return LaneLock(stage, settings, store, self.key, 2000, wait_ms, 5)
        return stage.lock(store, self.key, 2000, wait_ms, 5)

    def increment(self, name: str, wait_ms: int = 5000, work_ms: int = 0, request: str = "r1"):
        counter = Counter(counter_redis(Settings(counter_url=Endpoint.parse(self.urls("redis")))), f"{self.key}:counter")
        increment = Increment(request, counter, self.journal, work_ms)
        return self.thread.submit(increment.run, lambda: self.lock(name, wait_ms)).result()

    def prepare(self, failpoint: str, action: str) -> None:
        injection = Injection(name="fault-1", failpoint=failpoint, action=action)
        text = json.dumps({field: getattr(injection, field) for field in Injection.__slots__})
        (self.folder / "fault-1.json").write_text(text, encoding="utf-8")
        self.activate(Failpoints(self.folder, "replica-1"))

    def activate(self, failpoints: Failpoints) -> None:
        self.monkeypatch.setattr(RequestContext, "failpoints", failpoints)

    def events(self, kind: type) -> list:
        decode = msgspec.json.Decoder(AnyEvent).decode
        lines = (self.folder / "journal").read_bytes().splitlines()
        return [event for event in map(decode, lines) if isinstance(event, kind)]

    def close(self) -> None:
        for store in self.stores.values():
            getattr(store, "close", lambda: None)()


@pytest.fixture
def lab(redis_port, store_url, tmp_path, monkeypatch):
    here = f"127.0.0.1:{redis_port}"
    journal = Journal(tmp_path / "journal")
    for wait in ("socket_timeout", "socket_connect_timeout"):  # on a busy machine a node may need more than 50 ms
        monkeypatch.setitem(redis_nodes.UNHEARD, wait, 5)
    made = Lab(tmp_path, lambda name: here if name == "redis" else store_url(name), monkeypatch, journal)
    yield made
    made.close()


@pytest.mark.parametrize("name", [*COMMANDS, *LANES])
def test_commands_are_counted(lab, name):
    """The commands of a library are counted one by one, in the acquire and in the release."""
    for number in range(3):  # the first request loads scripts and makes folders
        lab.increment(name, request=f"r{number}")

    got, released = lab.events(Got)[-1], lab.events(Released)[-1]

    assert (got.commands, released.commands) == COMMANDS[name.removesuffix(BY_LANE)]
    assert got.asked_ns < got.sent_ns < got.got_ns
    assert not got.told_no
    assert released.result == "ok"
    assert [event for event in lab.events(Renewed) if event.command not in SESSION] == []


@pytest.mark.parametrize("name", NAMES)
def test_failpoints_are_reached(lab, name):
    """A library reaches the failpoints of a stage: once after the first yes, once before the last command of the release."""
    lab.increment(name, request="r1")  # the first request loads scripts and makes folders
    lab.activate(spy := Spy(lab.folder))
    lab.increment(name, request="r2")
    spy.reached.clear()
    lab.increment(name, request="r3")

    points = spy.reached
    assert points.count("acquire.after_first") == points.count("release.before_last") == 1
    assert points.index("acquire.after_first") < points.index("read.before") < points.index("release.before_last")


def test_lane_of_a_thread_that_goes_on(lab):
    """A command during the work or after the answer is a renewal of its request; a lane ends with its connection."""
    stage, settings = load_stage(str(HOME / f"{OWN_SOCKETS}.py")), Settings(redis_url=Endpoint.parse(lab.urls("redis")))
    clients, of_others = [], set(threading.enumerate())  # a client that another test has left may still be connected

    class Leaving(stage.lock):
        def __init__(self, *words):
            super().__init__(*words)
            self.client.close = lambda: None
            clients.append(self.client)

    class Renewing(Counter):
        def read(self, grant):
            clients[-1].ask("PEXPIRE", lab.key, "2000")
            return super().read(grant)

    leaving = dataclasses.replace(stage, lock=Leaving)
    counter = Renewing(counter_redis(Settings(counter_url=settings.redis_url)), f"{lab.key}:counter")
    for request in ("r1", "r2"):
        Increment(request, counter, lab.journal, 0).run(
            lambda: LaneLock(leaving, settings, lab.store("redis"), lab.key, 2000, 5000, 5)
        )
    clients[0].ask("SET", lab.key, "again", "PX", "2000")
    threads = [one for one in threading.enumerate() if one.name == "lane" and one not in of_others]
    for client in clients:
        client.stream.close()
    for thread in threads:
        thread.join(5)

    assert [(one.command, one.begun_by) for one in lab.events(Renewed)] == [("PEXPIRE", "r1"), ("PEXPIRE", "r2"), ("SET", "r1")]
    assert [one.commands for one in (*lab.events(Got), *lab.events(Released))] == [1, 1, 1, 1]
    assert threads
    assert not any(thread.is_alive() for thread in threads)


def test_lost_reply_of_a_transaction(lab):
    """A transaction whose reply was lost is not sent again: the request waits for its own lock, and gets none."""
    lab.increment(WATCHES)
    lab.prepare("acquire.after_first", "lose_reply")

    with pytest.raises(NotAcquired):
        lab.increment(WATCHES, wait_ms=200)

    assert lab.store("redis").exists(lab.key)
    assert (lab.folder / "fault-1.reached").exists()


@pytest.mark.parametrize(("name", "store"), [(GET_LOCK, "mysql"), ("libraries/pypi_psycopg", "postgresql")])
def test_lost_reply_of_a_database(lab, name, store):
    """A lost reply costs the client its connection, and with it the lock by name: the next request gets the lock."""
    lab.increment(name)
    lab.prepare("acquire.after_first", "lose_reply")

    with pytest.raises(lab.store(store).Error):
        lab.increment(name)

    assert lab.increment(name, wait_ms=500).value == 2


def test_blocking_read_outlasts_the_time_out(lab):
    """A blocking command that waits longer than the client's time-out still gets its answer."""
    client = lab.store("redis").plain(socket_timeout=0.2)
    pushed = threading.Timer(0.6, lambda: lab.store("redis").rpush(lab.key, "token"))
    pushed.start()

    assert client.blpop([lab.key], timeout=5) == (lab.key, "token")
    assert client.blpop([lab.key], timeout=0.5) is None
    pushed.join()


def test_commands_outside_requests_are_journaled(lab):
    """A command outside a request is journaled with its name, its key, its answer, and the time at which it was sent."""
    began_ns = time.monotonic_ns()
    lab.store("redis").set(lab.key, "mine", px=2000)
    lab.store("redis").plain(decode_responses=False).pexpire(lab.key, 3000)
    with lab.store("redis").pipeline(transaction=False) as pipeline:
        pipeline.get(lab.key).delete(lab.key).execute()
    lab.store("redis_nodes").all("GET", lab.key)
    lab.store("zookeeper").plain(4000).create(f"/{uuid4().hex}", ephemeral=True)
    lab.store("etcd").plain().put(lab.key, "mine")
    lab.store("mysql").execute("DELETE FROM lock_table WHERE lock_name = %s", lab.key)

    sent = [event for event in lab.events(Renewed) if event.command not in ("connect", "ping")]
    assert [(event.command, event.answer) for event in sent[:5]] == [
        ("SET", "OK"),
        ("PEXPIRE", "1"),
        ("GET", "mine"),
        ("DEL", "1"),
        ("GET", "0"),
    ]
    assert {event.key for event in sent[:5]} == {lab.key}
    assert {event.command for event in sent[5:]} == {"create", "Put", "DELETE"}
    assert all(began_ns < event.sent_ns < event.renewed_ns for event in sent)


def test_what_prolongs_a_lease(lab):
    """A command outside a request is a renewal only if the store agreed, and if the command does more than read or delete."""
    client, other = lab.store("redis"), f"{lab.key}:other"
    client.set(lab.key, "1", px=2000)
    client.get(lab.key)
    client.pexpire(lab.key, 2000)
    client.pexpire(other, 2000)
    client.eval("return redis.call('pexpire', KEYS[1], 2000)", 1, lab.key)
    with client.pipeline() as pipeline:
        pipeline.watch(lab.key)
        pipeline.multi()
        pipeline.pexpire(lab.key, 2000).execute()
    with client.pipeline() as pipeline:
        pipeline.pexpire(other, 2000).execute()
    with client.pipeline() as pipeline:
        pipeline.delete(lab.key).execute()
    lease, hung = lab.store("etcd").grant(5), lab.store("etcd").grant(5)
    lab.store("etcd").keep_alive(lease)
    lab.store("etcd").revoke(lease)
    lab.store("etcd").create(f"{lab.key}/mine", f"{lab.key}/", hung)
    lab.store("etcd").keep_alive(hung)
    lab.store("etcd").revoke(hung)

    sent = [(event.command, event.key) for event in lab.events(Renewed) if event.prolonged and event.command not in SESSION]
    assert sent == [
        ("SET", lab.key),
        ("PEXPIRE", lab.key),
        ("EVAL", lab.key),
        ("EXEC", lab.key),
        ("LeaseKeepAlive", f"session {lease:x}"),
        ("Txn", ""),
        ("LeaseKeepAlive", f"session {hung:x}"),  # also if a key hangs on it
    ]


def test_folders_are_not_counted(lab):
    """The commands by which kazoo's own threads make parent nodes are neither commands of the lock nor renewals."""
    session = lab.store("zookeeper").session(4000)

    begin("r1")
    session.create_ephemeral_sequential(f"/{uuid4().hex}/folder/node-")
    commands = here().sent.commands
    end()

    assert commands == 1
    assert [event for event in lab.events(Renewed) if event.command not in SESSION] == []


def test_setting_up_does_not_count(lab):
    """Commands that set up a connection or check that it is alive are not counted as commands of the lock."""
    begin("r1")
    before = here().sent.commands
    client = lab.store("redis").plain(health_check_interval=0.01, client_name="mine", db=3)
    client.get(lab.key)
    time.sleep(0.05)
    client.get(lab.key)
    lab.store("mysql").plain().close()
    lab.store("zookeeper").plain(4000)
    after = here().sent.commands
    end()

    assert after - before == 2


def test_own_clients_are_counted(lab):
    """A client that a library makes for the address of the lock's server is counted; the client of the counter is not."""
    at = {name: Endpoint.parse(lab.urls(name)).first for name in ("redis", "mysql", "zookeeper", "redis_nodes")}
    settings = Settings(counter_url=Endpoint.parse(lab.urls("redis")), journal=lab.folder / "journal.jsonl")
    for name in ("redis", "mysql", "zookeeper"):
        lab.store(name)
    client = KazooClient(str(at["zookeeper"]))

    begin("r1")
    for name in ("redis", "redis_nodes"):
        redis.Redis(host="localhost", port=at[name].port).set(lab.key, "mine", nx=True)
    counter_redis(settings).get(lab.key)
    with pymysql.connect(host=at["mysql"].host, port=at["mysql"].port, user="root") as connection:
        connection.cursor().execute("SELECT GET_LOCK('mine', 1)")
    client.start()
    client.create(f"/{uuid4().hex}", ephemeral=True)
    commands = here().sent.commands
    end()
    client.stop()
    client.close()

    assert commands == 3


def test_waiting_in_postgresql(lab):
    """PostgreSQL's answers are a yes or a no for each of their types: a void, an error after a time-out, and a boolean."""
    holder, waiter = lab.store("postgresql").plain(), lab.store("postgresql").plain(options="-c lock_timeout=50")
    seen = []

    def ask(connection, statement: str) -> None:
        begin("r1")
        with suppress(lab.store("postgresql").Error):
            connection.execute(statement)
        seen.append((*here().sent.last, here().sent.told_no))
        end()

    with holder, waiter:
        ask(holder, "SELECT pg_advisory_lock(1)")
        ask(waiter, "SELECT pg_advisory_lock(1)")
        ask(waiter, "/* mine */ select pg_try_advisory_lock(1)")
        with holder.transaction():
            ask(holder, "SELECT 1")
        ask(holder, "SELECT pg_advisory_unlock(1)")

    assert seen == [
        ("SELECT", 1, False),
        ("SELECT", "error: 55P03", True),
        ("SELECT", 0, True),
        ("SELECT", 1, False),
        ("SELECT", 1, False),
    ]
    assert [event.command for event in lab.events(Renewed)] == ["BEGIN", "COMMIT"]
