"""A look at a lock on an idle server finds what its parameters and its answers mean, or names what may mean yes or no."""

from __future__ import annotations

import socket
import sys

import pytest

from lab.errors import BadInput
from lab.own_lock.stage_file import of_a_class

LOCKS = '''
import asyncio
import enum
import functools
import os
import time
import uuid
from contextlib import contextmanager

import redis

COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Plain:
    """SET NX PX, once."""

    def __init__(self, client, key, ttl):
        self.client, self.key, self.ttl, self.token = client, key, ttl, uuid.uuid4().hex

    def acquire(self):
        return bool(self.client.set(self.key, self.token, nx=True, px=int(self.ttl * 1000)))

    def release(self):
        self.client.eval(COMPARE, 1, self.key, self.token)


class OfItsOwn(Plain):
    """A lock whose key and TTL are in its code."""

    def __init__(self, client):
        super().__init__(client, "cron", 3)


class ZeroIsYes(Plain):
    def acquire(self):
        return 0 if super().acquire() else 1


class NoneOrTimeLeft(Plain):
    def acquire(self):
        return None if super().acquire() else self.client.pttl(self.key)


class TokenOrTimeLeft(Plain):
    def acquire(self):
        return self.token if super().acquire() else self.client.pttl(self.key)


class Outcome(enum.Enum):
    GRANTED = "granted"
    BUSY = "busy"


class AnEnum(Plain):
    def acquire(self):
        return Outcome.GRANTED if super().acquire() else Outcome.BUSY


class AnEnumForAll(Plain):
    """Wrong: lets everybody in."""

    def acquire(self):
        self.client.set(self.key, self.token, px=int(self.ttl * 1000))
        return Outcome.GRANTED


class TokenForAll(Plain):
    """Wrong: lets everybody in, each with a token of its own."""

    def acquire(self):
        self.client.set(self.key, self.token, px=int(self.ttl * 1000))
        return self.token


@contextmanager
def block(client, key, ttl):
    lock = Plain(client, key, ttl)
    got = lock.acquire() or None
    try:
        yield got
    finally:
        if got:
            lock.release()


class ForTexts(Plain):
    def release(self):
        if self.client.get(self.key) == self.token:
            self.client.delete(self.key)


class InAnotherDatabase(Plain):
    def __init__(self, host, port, key, ttl):
        super().__init__(redis.Redis(host, port, db=1), key, ttl)


class OwnClient(Plain):
    def __init__(self, host, port, key, ttl):
        super().__init__(redis.Redis(host, port), key, ttl)


CLIENTS = []


class KeepsItsClient(Plain):
    """The first request makes the client of the process."""

    def __init__(self, host, port, key, ttl):
        if not CLIENTS:
            CLIENTS.append(redis.Redis(host, port))
        super().__init__(CLIENTS[0], key, ttl)


class CountsItsWaiters(Plain):
    def __init__(self, client, key, ttl):
        super().__init__(client, f"lock:{key}:owner", ttl)
        self.waiters = f"n:{key}"

    def acquire(self):
        self.client.incr(self.waiters)
        try:
            return super().acquire()
        finally:
            self.client.decr(self.waiters)


class TimeoutInMs(Plain):
    def __init__(self, client, key, timeout_ms=5000):
        super().__init__(client, key, timeout_ms / 1000)


of_three_seconds = functools.partial(Plain, ttl=3.0)


@functools.cache
def kept(key, client, ttl):
    return Plain(client, key, ttl)


def kept_for_all(client, key, ttl):
    FIRST.append(kept(key, FIRST[0].client if FIRST else client, ttl))
    return FIRST[-1]


def kept_by_name(client, key, ttl):
    return BY_NAME.setdefault(key, Plain(client, key, ttl))


FIRST = []
GATES = {}
BY_NAME = {}


class EndsAtAMoment(Plain):
    """The lease is a moment in the value of the key, by the server's clock."""

    unit = 1

    def acquire(self):
        take = """
            local now, ttl, unit = redis.call('time'), tonumber(ARGV[2]), tonumber(ARGV[3])
            local now_ms = math.floor((now[1] * 1000 + now[2] / 1000) / unit) * unit
            if now_ms <= tonumber(redis.call('hget', KEYS[1], 'end') or -1) then return 0 end
            redis.call('hset', KEYS[1], 'end', now_ms + math.ceil(ttl / unit) * unit, 'owner', ARGV[1]) return 1"""
        return bool(self.client.eval(take, 1, self.key, self.token, self.ttl * 1000, self.unit))

    def release(self):
        self.client.delete(self.key)


class EndsAtASecond(EndsAtAMoment):
    unit = 1000


class EndsBeforeItsKey(EndsAtAMoment):
    def acquire(self):
        return super().acquire() and bool(self.client.pexpire(self.key, int(self.ttl * 2000)))


class EndsTheProcess(Plain):
    def acquire(self):
        os._exit(0)


class AllInMilliseconds(Plain):
    """As those that come from JavaScript: no name says that the times are in milliseconds."""

    def __init__(self, client, key, ttl=30000, wait=10000, retry_delay=50):
        super().__init__(client, key, ttl / 1000)
        self.wait, self.retry_delay = wait, retry_delay

    def acquire(self):
        until_s = time.monotonic() + self.wait / 1000
        while not super().acquire():
            if time.monotonic() > until_s:
                return False
            time.sleep(self.retry_delay / 1000)
        return True


class TimeoutIsTheWait(AllInMilliseconds):
    """``timeout`` is how long to wait, as of threading.Lock, and the TTL has a name that nobody knows."""

    def __init__(self, client, key, timeout=10, valid_for=3):
        super().__init__(client, key, valid_for * 1000, timeout * 1000)


class RaisesAnotherName(Plain):
    def acquire(self):
        if not super().acquire():
            raise LookupError(self.key)
        return True


class ReleaseFails(Plain):
    def release(self):
        raise TypeError("no token")


class AlwaysThirty(Plain):
    def __init__(self, client, key, lease):
        super().__init__(client, key, 30)


class Odd:
    def __init__(self, zork):
        pass


class NoMethods:
    def __init__(self, client, key):
        pass


class GateOfTheLoop(Plain):
    """Requests of a process pass an asyncio.Lock first, which belongs to one event loop."""

    async def acquire(self):
        await GATES.setdefault(self.key, asyncio.Lock()).acquire()
        while not await self.client.set(self.key, self.token, nx=True, px=int(self.ttl * 1000)):
            await asyncio.sleep(0.02)
        return True

    async def release(self):
        await self.client.eval(COMPARE, 1, self.key, self.token)
        GATES[self.key].release()


class NoGate(GateOfTheLoop):
    async def acquire(self):
        return await self.client.set(self.key, self.token, nx=True, px=int(self.ttl * 1000))

    async def release(self):
        await self.client.eval(COMPARE, 1, self.key, self.token)
'''


@pytest.fixture
def look(tmp_path, monkeypatch):
    """A function that looks at one of these locks, and returns the stage that it writes and what it says."""
    (tmp_path / "looked_at.py").write_text(LOCKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield lambda name: of_a_class(f"looked_at:{name}", None, tmp_path / "out")
    sys.modules.pop("looked_at", None)


@pytest.mark.parametrize(
    ("lock", "refused"),
    [
        ("looked_at.py:ForTexts", ""),
        ("looked_at.py:Nobody", "Nobody"),
        ("nowhere.py:ForTexts", "there is no file 'nowhere.py'"),
        ("queue.py:ForTexts", "Rename the file"),
        ("looked-at.py:ForTexts", "Rename the file"),
    ],
)
def test_class_of_a_file(lock, refused, look, tmp_path):
    """A lock may be named by its file: the file of that place is imported, and no other of that name."""
    for name in ("queue.py", "looked-at.py"):
        (tmp_path / name).write_text(LOCKS, encoding="utf-8")
    if not refused:
        assert of_a_class(str(tmp_path / lock), None, tmp_path / "out")[0].lock.wants_text
        return
    with pytest.raises(BadInput, match=refused):
        of_a_class(lock, None, tmp_path / "out")


@pytest.mark.parametrize("name", ["ZeroIsYes", "NoneOrTimeLeft", "TokenOrTimeLeft", "AnEnum"])
def test_answer_may_mean_no(name, look):
    """An answer that is another one only while the lock is held may be a refusal: such a lock must not be judged by it."""
    with pytest.raises(BadInput, match="which may mean yes or no"):
        look(name)


@pytest.mark.parametrize("name", ["AnEnumForAll", "TokenForAll"])
def test_answer_means_yes(name, look):
    """The same answer as on an idle server is a grant, and so is a token that is never the same: such a lock is judged."""
    stage, _ = look(name)

    assert stage.lock.says_yes


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("block", {"says_yes": True}),
        ("ForTexts", {"wants_text": True}),
        ("Plain", {"wants_text": False, "loop": None}),
        ("CountsItsWaiters", {"form": "lock:{key}:owner"}),
        ("TimeoutInMs", {"means": {}}),
        ("of_three_seconds", {"form": "{key}"}),
        ("kept_for_all", {"form": "{key}"}),
        ("kept_by_name", {"form": "{key}"}),
        ("NoGate", {"says_yes": True, "loop": None}),
        ("OfItsOwn", {"form": "cron"}),
        ("AllInMilliseconds", {"means": {"ttl": "ttl_ms", "wait": "wait_ms"}}),
        ("TimeoutIsTheWait", {"means": {"timeout": "wait"}}),
    ],
)
def test_what_a_look_finds(name, found, look):
    """It finds the answer of a block, a client of texts, the key that a release frees, a TTL in the code."""
    stage, _ = look(name)

    assert {what: getattr(stage.lock, what) for what in found} == found
    assert (stage.ttl_ms, stage.has_fixed_ttl) == (3000, name in ("OfItsOwn", "TimeoutIsTheWait"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("EndsTheProcess", "SystemExit"),  # it would end the tests, which would seem to have passed
        ("Odd", "the parameter 'zork' has no default"),
        ("NoMethods", "has neither acquire and release"),
        ("RaisesAnotherName", "while another request held the lock, acquire raised LookupError"),
        ("ReleaseFails", "its release failed on an idle server: TypeError"),
        ("AlwaysThirty", "lives for 30000 ms, whatever the parameter 'lease' is given"),
        ("InAnotherDatabase", "in db1 of its server"),  # the lab sees the first one only
    ],
)
def test_lock_that_cannot_be_tested(name, said, look):
    """What keeps a lock from being tested is bad input, and named."""
    with pytest.raises(BadInput, match=said):
        look(name)


@pytest.mark.parametrize(
    ("name", "step_ms"), [("EndsAtAMoment", 1), ("EndsAtASecond", 1000), ("EndsBeforeItsKey", 1), ("Plain", 1)]
)
def test_lease_beside_the_keys_ttl(name, step_ms, look):
    """A lease that is not its key's TTL shows whether it counts whole seconds: runs with half a second say nothing of those."""
    stage, _ = look(name)

    assert stage.ttl_step_ms == step_ms


def test_file_of_a_package(look, tmp_path):
    """A file that imports its neighbours by a dot is a module of its package; one that ends the process is bad input."""
    (folder := tmp_path / "of_a_package" / "inner").mkdir(parents=True)
    for place in (folder, folder.parent):
        (place / "__init__.py").touch()
    (folder.parent / "locks.py").write_text(LOCKS, encoding="utf-8")
    (folder / "mine.py").write_text("from ..locks import Plain", encoding="utf-8")
    (folder / "ends.py").write_text("import os\nos._exit(0)", encoding="utf-8")

    stage, _ = of_a_class(f"{folder}/mine.py:Plain", None, tmp_path / "out")
    assert stage.lock.make.__module__ == "of_a_package.locks"
    with pytest.raises(BadInput, match="ends cannot be imported: SystemExit"):
        of_a_class(f"{folder}/ends.py:Plain", None, tmp_path / "out")


def test_sockets_of_the_process(look, tmp_path, monkeypatch):
    """A module that replaces the sockets of the whole process, as gevent.monkey does, is bad input: the lab needs its own."""
    (tmp_path / "replaces.py").write_text("import socket\nclass Lock: ...\nsocket.socket = Lock", encoding="utf-8")
    monkeypatch.setattr("socket.socket", socket.socket)  # given back at the end

    with pytest.raises(BadInput, match="replaces the sockets"):
        of_a_class(f"{tmp_path}/replaces.py:Lock", None, tmp_path / "out")


def test_lock_that_keeps_an_event_loop(look):
    """A lock that keeps an asyncio.Lock for later requests gets one event loop for all of them."""
    stage, _ = look("GateOfTheLoop")

    assert stage.lock.loop is not None


@pytest.mark.parametrize(("name", "by_lane"), [("OwnClient", True), ("KeepsItsClient", False)])
def test_lock_that_keeps_its_client(name, by_lane, look):
    """A lock that asks at the address of an earlier request gets that of the store: no lane would say whose a command is."""
    stage, notes = look(name)

    assert stage.by_lane is by_lane
    assert any("keeps its client" in note for note in notes) is not by_lane
