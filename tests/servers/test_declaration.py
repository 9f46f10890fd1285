"""``lab test module:Name`` writes a declaration of how the lock is used, with a question for each fact that it cannot find."""

from __future__ import annotations

import pytest

from app.shelf import plugins
from lab.errors import BadInput
from lab.own_lock.declaration import of_a_lock
from lab.own_lock.trial import CallResult, Looked
from tests.command import lab

LOCKS = """
import asyncio, time, uuid
from contextlib import asynccontextmanager, contextmanager

import redis

CLIENT = redis.Redis("localhost", 6379, db=3)
COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

class NotAcquired(Exception): ...

class Plain:
    def __init__(self, client, key, ttl):
        self.client, self.key, self.ttl, self.token = client, key, ttl, uuid.uuid4().hex

    def acquire(self):
        return bool(self.client.set(self.key, self.token, nx=True, px=int(self.ttl * 1000)))

    def release(self):
        if not self.client.eval(COMPARE, 1, self.key, self.token):
            raise NotAcquired

class Texts(Plain):
    def release(self):
        if self.client.get(self.key) == self.token:
            self.client.delete(self.key)

class PutsBack(Plain):
    def acquire(self):
        return self.client.setnx(self.key + ":made", 1) or self.client.lpop(self.key)

    def release(self):
        self.client.rpush(self.key, "token")

class Waits(Plain):
    def __init__(self, client, name, timeout=10):
        super().__init__(client, name, 3)
        self.timeout = timeout

    def acquire(self):
        until_s = time.monotonic() + self.timeout
        while not super().acquire():
            if time.monotonic() > until_s:
                raise NotAcquired
            time.sleep(0.01)

class Adds(Plain):
    def __init__(self, client, name, timeout=None):
        super().__init__(client, name, timeout)

    def acquire(self):
        got = super().acquire()
        self.client.pexpire(self.key, self.client.pttl(self.key) + int(self.ttl * 1000))
        return got

def obtain(conn, lockname, lock_timeout=10):
    mine = uuid.uuid4().hex
    return mine if conn.set(lockname, mine, nx=True, ex=int(lock_timeout)) else None

def free(conn, lockname, mine):
    conn.eval(COMPARE, 1, lockname, mine)

@contextmanager
def block(order):
    got = CLIENT.set(order, "1", nx=True)
    try:
        yield got
    finally:
        if got:
            CLIENT.delete(order)

@asynccontextmanager
async def raises(client, key, ttl):
    if not await client.set(key, "1", nx=True, ex=ttl):
        raise NotAcquired
    yield
    await client.delete(key)

class Loops(Plain):
    async def acquire(self):
        return await self.client.set(self.key, self.token, nx=True, px=int(self.ttl * 1000))

    async def release(self):
        await self.client.eval(COMPARE, 1, self.key, self.token)

class Manager:
    def __init__(self, servers=()):
        self.client = next(iter(servers))

    def lock(self, resource, ttl):
        mine = uuid.uuid4().hex
        return (resource, mine) if self.client.set(resource, mine, nx=True, px=ttl) else False

    def unlock(self, lock):
        self.client.eval(COMPARE, 1, *lock)

def of_redis(client, key, ttl_ms, wait_ms):
    return client.lock(key, timeout=ttl_ms / 1000, blocking_timeout=wait_ms / 1000)

def guarded(client, key, ttl):
    def decorator(function):
        def guarded_function():
            if client.set(key, "1", nx=True, ex=ttl):
                function()
                client.delete(key)
        return guarded_function
    return decorator

def with_lock(client, name, func):
    if not client.set(name, "1", nx=True, ex=9):
        raise NotAcquired
    func()
    client.delete(name)

class Factory:
    def __init__(self, redisconn, prefix="lock"):
        self.client = redisconn

    def new_lock(self, namespace, lockName, timeout=10):
        return Plain(self.client, namespace + lockName, timeout)

class OfHashes(Plain):
    def __init__(self, client, key, px=100):
        super().__init__(client, str(uuid.uuid5(uuid.NAMESPACE_DNS, key)), px / 1000)

class lock(Plain):
    def acquire(self, blocking=False, blocking_timeout=None, *, namespace):
        if blocking_timeout and blocking_timeout > self.ttl:
            raise ValueError("longer than the TTL")
        return super().acquire()

    def delLock(self, namespace):
        self.release()

OF_THE_MODULE = Factory(CLIENT).new_lock("of the", "module")

class Unknown(Plain):
    def __init__(self, client, key, zork):
        super().__init__(client, key, zork)

class Tells:
    def __init__(self, client, key, leaseTime=100):
        self.lock = Plain(client, key, leaseTime / 1000)

    def __enter__(self):
        self.got = self.lock.acquire()
        return self

    def __exit__(self, *_):
        if self.got:
            self.lock.release()

class NoAnswer(Plain):
    def acquire(self):
        super().acquire()

class Thirty(Plain):
    def __init__(self, client, key, lease):
        super().__init__(client, key, 30)

class NoKey(Plain):
    def acquire(self):
        return True

class Hangs(Plain):
    def __del__(self):
        time.sleep(60)
"""
TAKEN = {
    "Plain": ["Plain(at.client, at.key, at.ttl_s)", "got = lock.acquire()\n    if got:", "errors=(NotAcquired,)", "promises\n"],
    "Texts": ["Texts(at.text_client, at.key, at.ttl_s)  # decode_responses=True"],
    "PutsBack": ["declared(use)"],
    "Waits": ["timeout=at.wait_s", "    lock.acquire()\n    try:", "errors=(NotAcquired,)", "has_fixed_ttl=True"],
    "Adds": ["timeout=at.ttl_s", "ttl_ms=3000,  # what the lock promises\n"],
    "obtain": ["got = obtain(at.client, at.key, lock_timeout=at.ttl_s)", "if got:", "free(at.client, at.key, got)"],
    "block": ["with block(at.key) as got:\n        if got:", 'leads_from="localhost:6379"', "no expiry"],
    "raises": ["async with raises(at.client, at.key, at.ttl_s):\n        await at.work()", "errors=(NotAcquired,)"],
    "Loops": ["async def use(at)", "got = await lock.acquire()", "await lock.release()"],
    "Manager": ["Manager(servers=[at.client])", "got = lock.lock(at.key, at.ttl_ms)", "lock.unlock(got)"],
    "of_redis": ["got = lock.acquire(sleep=at.retry_s)", "lock.release()", "errors=(LockNotOwnedError,)"],
    "guarded": ["def use(at):\n    guarded(at.client, at.key, at.ttl_s)(at.work)()\n", "declared(use),", "in whole seconds"],
    "with_lock": ["    with_lock(at.client, at.key, at.work)\n", "errors=(NotAcquired,)", "ttl_ms=9000,  # the TTL in its code"],
    "Factory": ['lock = Factory(at.client).new_lock("lab", at.key, timeout=at.ttl_s)', 'key="lab{key}"'],
    "lock": ["it = lock(at.client", 'got = it.acquire(namespace="lab")', "it.release()"],
    "OF_THE_MODULE": [
        "use(at):\n    got = OF_THE_MODULE.acquire()",
        'key="of themodule", errors=(NotAcquired,), leads_from="localhost:6379"',
    ],
}
ASKED = {
    "OfHashes": ("px=at.ttl_ms", "is its key for 'lab-looks'. Which function makes it (key=)?"),
    "Unknown": ('Unknown(at.client, at.key, "zork?")', "what is zork?"),
    "NoAnswer": ("lock.acquire()", "it answered None, and None while another request held the lock"),
    "Tells": ("with Tells(at.client, at.key, leaseTime=at.ttl_ms) as got", "Which of them is a grant?"),
    "Thirty": ("ttl_ms=30000", "it was given 3000. Which TTL does it promise?"),
    "NoKey": ("NoKey(", "it set no key"),
    "Hangs": ("lock.release()", "it took more than 2 s. How is the lock released?"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return the working directory, with a module of a user's locks."""
    (tmp_path / "locks_of_mine.py").write_text(LOCKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_key_that_expires_in_a_look():
    """If the key expires while the lab looks at it, the lab does not take the lock for one without a TTL."""
    assert not Looked(CallResult("answer"), end=CallResult("answer"), key="lock", ttl_ms=-2, is_freed=True).is_over


@pytest.mark.parametrize("name", TAKEN)
def test_lock_is_taken(name, here):
    """The declaration states how the lock is made, which answer is a grant, how it is released, its key and its TTL."""
    stage = of_a_lock(f"locks_of_mine:{name}", None, here / "declared.py")
    text = stage.path.read_text(encoding="utf-8")

    assert [part for part in TAKEN[name] if part not in text] == [], text
    assert stage.store == "redis"


@pytest.mark.parametrize("name", ASKED)
def test_question(name, here):
    """A fact that the lab cannot find out is a question at its line of the declaration, also when the command is given again."""
    line, question = ASKED[name]
    for _ in range(2):
        with pytest.raises(BadInput, match=r"a question of the lab.*\n.*declared.py:\d+: "):
            of_a_lock(f"locks_of_mine:{name}", None, here / "declared.py")
    asked = [one for one in (here / "declared.py").read_text(encoding="utf-8").splitlines() if "QUESTION" in one]

    assert [(line in one, question in one) for one in asked] == [(True, True)], asked


def test_source_tells_the_store(here, monkeypatch):
    """For a lock in another store, the declaration is written from the source alone, with a question, and no server starts."""
    monkeypatch.setenv("PATH", "")  # without redis-server
    text = LOCKS[LOCKS.index("class Plain") : LOCKS.index("class Texts")].replace("ttl", "password").replace("key", "path")
    (here / "theirs.py").write_text(f"from pymysql import connect\n{text}", encoding="utf-8")
    with pytest.raises(BadInput, match="a lock in mysql is not tried"):
        of_a_lock("theirs:Plain", None, None)

    assert "lock = Plain(at.client, at.key[-64:], at.password)  # QUESTION" in (here / "lab_plain.py").read_text(encoding="utf-8")


def test_declaration_is_kept(here):
    """An existing declaration is used as it is; a declaration of another lock or with other claims is refused."""
    for name in ("park_lock.py", "2_locks.py", "flask.py"):
        (here / name).write_text(LOCKS, encoding="utf-8")
    first = of_a_lock("park_lock:Plain", "exclusive", None)
    changed = (here / "lab_plain.py").read_text(encoding="utf-8").replace("3000", "2000")
    (here / "lab_plain.py").write_text(changed, encoding="utf-8")

    assert [claim.name for claim in first.claims] == ["exclusive"]
    assert of_a_lock("./park_lock.py:Plain", "exclusive", None).ttl_ms == 2000
    with pytest.raises(BadInput, match="other claims"):
        of_a_lock("park_lock:Plain", "counts_once", None)
    with pytest.raises(BadInput, match="declares park_lock:Plain, and not 2_locks:Plain"):
        of_a_lock("2_locks.py:Plain", None, None)
    assert of_a_lock("2_locks.py:Plain", None, here / "sub" / "other.py").name == "other"
    (here / "sub" / "park_lock.py").write_text(LOCKS, encoding="utf-8")
    assert f"and not in {here / 'sub'}" in lab("test", "sub/park_lock.py:Plain", cwd=here).err
    with pytest.raises(BadInput, match="'flask' cannot be the name of a module of yours"):
        of_a_lock("flask.py:Plain", None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os\nos._exit(3)", "it ended"),
        ("raise SystemExit('no')", "SystemExit: no"),
        ("import socket\nsocket.socket = len", "replaces the sockets"),
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        ("import threading\nthreading.Event().wait()", "the import did not end"),
    ],
)
def test_module_that_cannot_be_imported(text, said, here, monkeypatch):
    """A module that cannot be imported is refused with the reason, also if it ends its process or never ends."""
    monkeypatch.setattr(plugins, "IMPORT_S", 3)
    (here / "mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        of_a_lock("mine:Lock", None, None)

    assert said in str(error.value)
    assert ("mine.py:2" in str(error.value)) == ("did not end" in said)


def test_question_is_asked_at_once(here):
    """A question ends the command with status 2, the file and the line; control codes in a name do not reach the terminal."""
    done = lab("test", "locks_of_mine:NoAnswer", cwd=here)
    raw = lab("test", "locks_of_mine:\x1b[31m", cwd=here)

    assert (raw.status, "\x1b" in raw.err) == (2, False), raw.err
    assert (done.status, "lab_no_answer.py:10: it answered None" in done.err) == (2, True), done.err
