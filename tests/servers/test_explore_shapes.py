"""Locks of unusual shapes: they sleep before the grant, use functions, count who listens, or name threads. All are decided."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import pytest

from lab.explore.decision import Undecided
from lab.explore.questions import Question
from lab.explore.search.event import Budget
from tests.sampled import sampled
from tests.servers.explored import WITHIN_S, exploring, question

PROMISED = "exclusive releases_only_its_own freed_after_crash freed_after_failure serves_most_requests loses_no_wakeup"
LOCK = '''\
"""The lock of app/locks/lua.py, whose try is a method of its own, with a change."""
import contextlib, gc, hashlib, threading, time, uuid
import redis
from app.foreign.declared import declared
from app.lock import Stage, claims
from app.locks import lua
class Lock(lua.Lock):
    def acquire(self):
        while not self.tried():
            time.sleep(self.retry_ms / 1000)
    def tried(self):
        return self.store.set(self.key, self.token, nx=True, px=self.ttl_ms)
{change}
STAGE = Stage(lock=Lock, store="redis", claims=claims("{promised}"), ttl_ms=3000)
'''


class Case(NamedTuple):
    """A lock, a question about it, and the expected answer."""

    change: str
    asked: Question
    broken: str = ""
    undecided: Undecided | None = None


PAUSE, CRASH, FAILURE = (question(Budget(**{name: 1})) for name in ("pauses", "crashes", "failures"))
LONG, SHORT = question(work_ms=5000, nap_ms=700), question(work_ms=100, nap_ms=200)
ALONE = question(replicas=1)
FUNCTIONS = '''
LIBRARY = """#!lua name={name}s
redis.register_function('{name}', function(keys, args) return redis.call('set', keys[1], args[1], 'NX'{ttl}) and 1 or 0 end)"""
class Lock(Lock):
    def tried(self):
        try:
            return self.store.fcall("{name}", 1, self.key, self.token)
        except redis.ResponseError:
            self.store.function_load(LIBRARY, replace=True)
            return self.store.fcall("{name}", 1, self.key, self.token)
'''
SLEEPS = """
class Lock(Lock):
    def tried(self):
        {before}
        got = self.store.set(self.key, self.token, nx=True{ttl})
        {after}
        return got
"""
LISTENS = """
class Lock(Lock):
    def acquire(self):
        with self.store.pubsub() as channel:
            channel.subscribe(self.key)
            super().acquire()
    def release(self):
        super().release()
        if {published}:
            raise RuntimeError("somebody listens")
"""
TOKEN = """
class Lock(Lock):
    def tried(self):
        self.token = str({number})
        return super().tried()
"""
SECONDS = """
TAKE = '''
if tonumber(redis.call('hget', KEYS[1], 'end') or 0) > tonumber(ARGV[1]) then return 0 end
redis.call('hset', KEYS[1], 'end', ARGV[2] + ARGV[3], 'owner', ARGV[4])
return 1'''
FREE = "if redis.call('hget', KEYS[1], 'owner') == ARGV[1] then redis.call('del', KEYS[1]) end"
class Lock(Lock):
    def tried(self):
        return self.store.eval(TAKE, 1, self.key, time.time(), {begins}, self.ttl_ms // 1000, self.token)
    def release(self):
        self.store.eval(FREE, 1, self.key, self.token)
"""
LOADS = """
SCRIPT = {script}
SHA = hashlib.sha1(SCRIPT.encode()).hexdigest()
class Lock(Lock):
    def {method}(self):
        try:
            return self.store.evalsha(SHA, 1, self.key, self.token, self.ttl_ms)
        except redis.exceptions.NoScriptError:
            self.store.script_load(SCRIPT)
            return {otherwise}
"""
TAKES = "\"return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])\""
NAMED = """
class Lock(Lock):
    def __init__(self, store, *args):
        super().__init__(store, *args)
        self.line = redis.Redis(connection_pool=store.connection_pool, single_connection_client=True)
        self.line.client_setname(self.token)
    def tried(self):
        return self.line.set(self.key, self.line.{asked}(), nx=True, px=self.ttl_ms)
    def release(self):
        self.line.eval(lua.RELEASE, 1, self.key, self.line.{asked}())
"""
WAIT, NOTHING, TTL = "time.sleep(0.3)", "pass", ", px=self.ttl_ms"
ON = """
def look(store, key):
    here = {2}
    {0}:
        {1}
        time.sleep(0.1)
class Lock(Lock):
    def acquire(self):
        threading.Thread(target=look, args=(self.store, self.key), daemon=True).start()
        super().acquire()
"""
COUNTS = "here.token = (getattr(here, 'token', 0) or 0) + 1; here.token == 2 and store.delete(key)"
THEFT, HARM = "releases_only_its_own", "releases_only_its_own exclusive"
CASES = {
    # the explorer knows whether a lock is free, also if the lock sleeps before its grant
    "sleeps before it asks": Case(SLEEPS.format(before=WAIT, after=NOTHING, ttl=TTL), CRASH),
    "sleeps when it has asked": Case(SLEEPS.format(before=NOTHING, after=WAIT, ttl=TTL), CRASH),
    "sleeps, and frees nothing": Case(
        SLEEPS.format(before=WAIT, after=NOTHING, ttl=TTL) + "    def release(self): pass",
        FAILURE,
        "freed_after_failure releases_only_its_own",
    ),
    # functions are known from the first command on, also if another replica loaded them
    "a function": Case(FUNCTIONS.format(name="take", ttl=", 'PX', 3000"), PAUSE),
    "a function, no TTL": Case(FUNCTIONS.format(name="keep", ttl=""), CRASH, "freed_after_crash"),
    # the loaded scripts and the settings of a connection are a part of the state
    "not loaded, and deletes": Case(
        LOADS.format(script="lua.RELEASE", method="release", otherwise="self.store.delete(self.key)"),
        LONG,
        "releases_only_its_own",
    ),
    "not loaded, and grants": Case(LOADS.format(script=TAKES, method="tried", otherwise="True"), question(), "exclusive"),
    "not loaded, and loads": Case(
        LOADS.format(script=TAKES, method="tried", otherwise="self.store.evalsha(SHA, 1, self.key, self.token, self.ttl_ms)"),
        PAUSE,
    ),
    "asks for scripts": Case(
        """
class Lock(Lock):
    def release(self):
        if self.store.script_exists(lua.RELEASE_SHA)[0]:
            self.store.evalsha(lua.RELEASE_SHA, 1, self.key, self.token)
        else:
            self.store.script_load(lua.RELEASE)
            self.store.delete(self.key)
""".replace("lua.RELEASE_SHA", "hashlib.sha1(lua.RELEASE.encode()).hexdigest()"),
        LONG,
        "releases_only_its_own",
    ),
    "the name of its connection": Case(NAMED.format(asked="client_getname"), LONG),
    "the number of its connection": Case(NAMED.format(asked="client_id"), LONG),
    "who is connected": Case(NAMED.format(asked="client_list"), ALONE, undecided=Undecided.REFUSED),
    # PUBLISH answers how many clients listen; a closed subscription does not count
    "counts who listens": Case(LISTENS.format(published="self.store.publish(self.key, 1)"), ALONE),
    "counts them in a script": Case(
        LISTENS.format(published="""self.store.eval("return redis.call('publish', KEYS[1], 1)", 1, self.key)"""),
        ALONE,
        undecided=Undecided.REFUSED,
    ),
    # two processes can share the address of a thread, but not its number in the system
    "the address of a thread is its token": Case(
        TOKEN.format(number="threading.get_ident()"),
        LONG,
        "releases_only_its_own",
    ),
    "the number of a thread is its token": Case(
        TOKEN.format(number="threading.get_native_id()"),
        LONG,
    ),
    "a look at the server's clock": Case(
        """
NOW = "local now = redis.call('time') now = now[1] * 1000 + math.floor(now[2] / 1000)"
LOOK = NOW + " return (tonumber(redis.call('hget', KEYS[1], 'end')) or 0) <= now and 1 or 0"
TAKE = NOW + " redis.call('hset', KEYS[1], 'end', now + ARGV[1], 'owner', ARGV[2])"
FREE = "if redis.call('hget', KEYS[1], 'owner') == ARGV[1] then redis.call('del', KEYS[1]) end"
class Lock(Lock):
    def tried(self):
        with self.store.pipeline() as pipe:
            try:
                pipe.watch(self.key)
                if not pipe.eval_ro(LOOK, 1, self.key):
                    return False
                pipe.multi()
                pipe.eval(TAKE, 1, self.key, self.ttl_ms, self.token).execute()
                return True
            except redis.WatchError:
                return False
    def release(self):
        self.store.eval(FREE, 1, self.key, self.token)
""",
        question(),
    ),
    # a lease in whole seconds ends too early or too late
    "ends at a second before its time": Case(SECONDS.format(begins="int(time.time())"), LONG, "exclusive"),
    "ends at a second after its time": Case(SECONDS.format(begins="-int(-time.time() // 1)"), CRASH, "freed_after_crash"),
    # a task that one replica leaves to its event loop is never run by another replica
    "a block of asyncio, tried once": Case(
        """
@contextlib.asynccontextmanager
async def block(client, key, ttl_ms):
    token = uuid.uuid4().hex
    got = await client.set(key, token, nx=True, px=ttl_ms)
    try:
        yield got
    finally:
        if got:
            await client.eval(lua.RELEASE, 1, key, token)
async def use(at):
    async with block(at.client, at.key, at.ttl_ms) as got:
        if got:
            await at.work()
Lock = declared(use)
""",
        question(replicas=3),
    ),
    "a lock of asyncio that looks, and then deletes": Case(
        """
async def use(at):
    if await at.client.set(at.key, at.token, nx=True, px=at.ttl_ms):
        await at.work()
        if await at.client.get(at.key) == at.token.encode():
            await at.client.delete(at.key)
Lock = declared(use)
""",
        PAUSE,
    ),
    "is not the place where others' garbage ends": Case(
        """
class Lock(Lock):
    def acquire(self):
        if gc.isenabled():
            raise RuntimeError("the code that others have left would run here")
        super().acquire()
""",
        question(),
    ),
    # a thread's turn that changes no memory adds no state; the harm of a thread that counts is found, wherever it counts
    "beside a janitor": Case(ON.format("while True", "store.pttl(key)", None), LONG),
    "beside a gauge": Case(ON.format("while True", "store.set('gauge', time.monotonic_ns())", None), SHORT),
    "beside a renewer": Case(ON.format("while True", "store.pexpire(key, 3000)", None), SHORT),
    "counts in a loop": Case(ON.format("for turn in range(9)", "turn == 2 and store.delete(key)", None), SHORT, THEFT),
    "counts in a token": Case(ON.format("while True", COUNTS, "redis.lock.Lock(store, 'x', thread_local=0).local"), SHORT, HARM),
    "counts in a thread": Case(ON.format("while True", COUNTS, "threading.local()"), SHORT, HARM),
    "counts in a generator": Case(
        ON.format("while True", "next(here) == 2 and store.delete(key)", "(i for i in range(9))"), SHORT, THEFT
    ),
}


@pytest.mark.parametrize("name", sampled(CASES, [*CASES][::3]))
def test_what_is_decided(name, real, tmp_path):
    """Exactly the claims that a lock breaks are named; a command without a model is refused."""
    change, asked, broken, undecided = CASES[name]
    own = tmp_path / "shaped.py"
    own.write_text(LOCK.format(change=textwrap.dedent(change), promised=PROMISED), encoding="utf-8")
    with exploring(real, own) as explorer:
        answer: Any = explorer.answer(asked, WITHIN_S)

    assert (answer.undecided, answer.detail if undecided is None else "") == (undecided, "")
    found = {claim.name for claim in answer.result.broken} & set(PROMISED.split()) if answer.result else set()
    assert found == set(broken.split())
