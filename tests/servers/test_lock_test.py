"""``lab test`` and ``lab new``: a lock of your own, in every order of events and in runs."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree as ET

import pytest

from tests.command import AGAIN, lab, run, warm
from tests.sampled import sampled

pytest_plugins = ["pytester"]

LOCKS = '''
import time
import uuid

COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Token:
    """A lock of somebody's own, which has never heard of the lab."""

    def __init__(self, client, name, ttl=5.0, wait=10.0):
        self.client, self.name, self.ttl, self.wait = client, f"lock:{name}", ttl, wait
        self.token = uuid.uuid4().hex

    def acquire(self):
        until_s = time.monotonic() + self.wait
        while not self.client.set(self.name, self.token, nx=True, px=int(self.ttl * 1000)):
            if time.monotonic() > until_s:
                return False
            time.sleep(0.02)
        return True

    def release(self):
        if self.client.get(self.name) == self.token.encode():
            self.client.delete(self.name)


def make(client, key, ttl_ms, wait_ms):
    return client.lock(key, timeout=ttl_ms / 1000, blocking_timeout=wait_ms / 1000)


def guarded(client, key, ttl):
    """Return a decorator."""

    def decorate(function):
        def wrapped(*values):
            token = uuid.uuid4().hex
            while not client.set(key, token, nx=True, px=int(ttl * 1000)):
                time.sleep(0.02)
            try:
                return function(*values)
            finally:
                client.eval(COMPARE, 1, key, token)

        return wrapped

    return decorate


class AtHome:
    """As many a lock is written: SET NX EX with whole seconds, once, answered with the token or None."""

    def __init__(self, client, name, ttl):
        self.client, self.name, self.ttl = client, name, ttl

    def acquire(self):
        token = uuid.uuid4().hex
        return token if self.client.set(self.name, token, nx=True, ex=self.ttl) else None

    def release(self, token):
        self.client.eval(COMPARE, 1, self.name, token)


class InMilliseconds(AtHome):
    def acquire(self):
        token = uuid.uuid4().hex
        return token if self.client.set(self.name, token, nx=True, px=int(self.ttl)) else None


class AllInMilliseconds(AtHome):
    """As those that come from JavaScript: no name says that the times are in milliseconds."""

    def __init__(self, client, name, ttl=30000, wait=10000, retry_delay=50):
        super().__init__(client, name, ttl)
        self.wait, self.retry_delay = wait, retry_delay

    def acquire(self):
        until_s = time.monotonic() + self.wait / 1000
        token = uuid.uuid4().hex
        while not self.client.set(self.name, token, nx=True, px=int(self.ttl)):
            if time.monotonic() > until_s:
                return None
            time.sleep(self.retry_delay / 1000)
        return token


class TimeoutIsTheWait(AtHome):
    """``timeout`` is how long to wait, as of threading.Lock, and the TTL has a name that nobody knows."""

    def __init__(self, client, name, timeout=10, valid_for=3):
        super().__init__(client, name, valid_for)
        self.timeout = timeout

    def acquire(self):
        until_s = time.monotonic() + self.timeout
        while (token := super().acquire()) is None and time.monotonic() < until_s:
            time.sleep(0.02)
        return token


class AnswersInTwo(InMilliseconds):
    def acquire(self):
        token = super().acquire()
        return token is not None, token

    def release(self, answer):
        super().release(answer[1])


class Taken(Exception):
    pass


class RaisesAnotherName(InMilliseconds):
    def acquire(self):
        if (token := super().acquire()) is None:
            raise Taken(self.name)
        return token


class ReleaseFails(InMilliseconds):
    def release(self, token):
        raise TypeError("no token")


class AlwaysThirty(AtHome):
    def __init__(self, client, name, lease):
        super().__init__(client, name, 30)


def later(client, key):
    return Later(client, key)


class Later:
    """A lock of asyncio that a function makes which does not say so."""

    def __init__(self, client, key):
        self.client, self.key = client, key

    async def acquire(self):
        return await self.client.set(self.key, "1", nx=True, px=3000)

    async def release(self):
        await self.client.delete(self.key)


class Odd:
    def __init__(self, zork):
        pass


class NoMethods:
    def __init__(self, client, name):
        pass


class NoKey(NoMethods):
    def acquire(self):
        return True

    def release(self):
        pass
'''


@pytest.fixture
def here(tmp_path):
    """A folder with a module of somebody's locks."""
    (tmp_path / "locks_of_mine.py").write_text(LOCKS, encoding="utf-8")
    (tmp_path / "my_worker.mjs").touch()
    return tmp_path


def test_class_is_condemned(here):
    """A class that compares and deletes in two steps breaks its promise, in some order and on the page; its key is found."""
    claims = "releases_only_its_own releases_atomically"
    words = ("--claims", claims, "--scenario", "slow_holder", "--budget", "60", "--out", "out")
    for _ in range(2):  # a busy machine can keep a run from its danger: that proves nothing
        shutil.rmtree(here / "out", ignore_errors=True)
        done = lab("test", "locks_of_mine:Token", *words, "--junit", "j.xml", "--badge", "b.svg", cwd=here)
        own, atomic = json.loads((here / "out" / "test.json").read_text(encoding="utf-8"))["claims"]
        if own["cells"][0]["verdict"] != "VOID":
            break
        AGAIN.append("lab test")
    suite = ET.parse(here / "j.xml").getroot()[0]  # noqa: S314 - the lab wrote it
    assert done.status == 1, done.err
    assert (own["orders"], own["cells"][0]["verdict"]) == ("holds", "KEPT")
    assert atomic["orders"] == "breaks"
    assert 'key="lock:{key}"' in (here / "out" / "my_token.py").read_text(encoding="utf-8")
    assert (here / "out" / atomic["schedule"]).is_file()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "0")
    assert "1 promise broken" in (here / "b.svg").read_text(encoding="utf-8")
    assert "releases_atomically" in (here / "out" / "test.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "written"),
    sampled(
        [
            ("AtHome", ["says_yes=True", "ttl_step_ms=1000"]),
            ("AllInMilliseconds", ['means={"ttl": "ttl_ms", "wait": "wait_ms"}']),
            ("TimeoutIsTheWait", ["ttl_ms=3000,\n    has_fixed_ttl=True", 'means={"timeout": "wait"}']),
            ("later", ["says_yes=True", "has_fixed_ttl=True"]),
            ("guarded", ["ttl_ms=3000"]),
        ],
        ["guarded"],
    ),
)
def test_lock_as_many_write_it(name, written, here):
    """A lock that tries once, answers None for no, or has a TTL in another unit, is served and acquitted."""
    words = ("--claims", "exclusive serves_most_requests", "--scenario", "rush", "--requests", "100", "--budget", "1")
    done = lab("test", f"locks_of_mine:{name}", *words, "--out", "out", cwd=here)

    exclusive, served = json.loads((here / "out" / "test.json").read_text(encoding="utf-8"))["claims"]
    (file,) = (here / "out").glob("*.py")
    text = file.read_text(encoding="utf-8")
    assert [word for word in written if word not in text] == []
    assert exclusive["cells"][0]["verdict"] == "KEPT", done.out + done.err
    assert served["orders"] != "breaks"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    sampled(
        [
            (["locks_of_mine:Tokn"], 2, "there is no class or function 'Tokn'. Did you mean 'Token'?"),
            (["../locks_of_mine:Token"], 2, "'../locks_of_mine' is not the name of a module. Give the path of its file"),
            (["my_worker.mjs"], 2, "my_worker.mjs is not a file of Python. A lock in another language: lab test --worker"),
            (["locks_of_mine:Odd"], 2, "the parameter 'zork' has no default"),
            (["locks_of_mine:NoMethods"], 2, "has neither acquire and release"),
            (["locks_of_mine:NoKey"], 2, "It set no key"),
            (["locks_of_mine:AnswersInTwo"], 2, "acquire answered (False, None), which may mean yes or no"),
            (["locks_of_mine:RaisesAnotherName"], 2, "while another request held the lock, acquire raised Taken"),
            (["locks_of_mine:ReleaseFails"], 2, "its release failed on an idle server: TypeError"),
            (["locks_of_mine:AlwaysThirty"], 2, "lives for 30000 ms, whatever the parameter 'lease' is given"),
            (["locks_of_mine:Token", "--claims", "exclusiv"], 2, "Did you mean 'exclusive'?"),
            (["locks_of_mine:Token", "--scenario", "rushh", "--budget", "600"], 2, "no scenario 'rushh'. Did you mean 'rush'?"),
            (["--worker", "nodee x.mjs"], 2, "the program 'nodee' is neither a file nor installed"),
            (["--worker", "node nope.mjs"], 4, "ended with status 1"),
        ],
        [
            ["locks_of_mine:NoKey"],
            ["locks_of_mine:Token", "--scenario", "rushh", "--budget", "600"],
            ["--worker", "nodee x.mjs"],
        ],
    ),
)
def test_bad_lock(words, status, said, here):
    """What cannot be tested is named, with the place and the nearest choice, before anything is run."""
    done = lab("test", *words, cwd=here)

    assert (done.status, said in done.err) == (status, True), done.err


def test_named_scenario_that_does_not_run(here):
    """A scenario that was asked for, and tests what the lock does not promise, is not left out without a word."""
    words = ("--claims", "exclusive", "--scenario", "starvation", "--budget", "0.1")
    done = lab("test", "locks_of_mine:Token", *words, "--out", "out", cwd=here)

    assert "left out, because they test a claim that the stage does not make: starvation" in done.out, done.err
    assert "Not run: starvation" in (here / "out" / "test.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "begun",
    sampled(
        [["--from", "uuid"], ["--worker", "node"], ["--worker", "php"], ["--worker", "python"]],
        [["--worker", "node"]],
    ),
    ids="-".join,
)
def test_new_lock_runs(begun, tmp_path):
    """What ``lab new`` writes is a lock that runs as it is, and that is not written over."""
    made = warm("new", "mine", *begun, cwd=tmp_path)
    again = warm("new", "mine", cwd=tmp_path)
    done = run("slow_holder", "./mine.py", tmp_path)

    assert (made.status, again.status) == (0, 2), made.err
    assert done.verdict["verdict"] == "KEPT", done.err


@pytest.mark.trial
def test_fixture(pytester, here):
    """The fixture passes a sound lock, and fails for another with the schedule that breaks it."""
    pytester.makepyfile(
        locks_of_mine=LOCKS,
        test_mine="""
        from locks_of_mine import Token, make

        def test_sound(lock_lab):
            lock_lab.check(make, claims=["releases_only_its_own"], scenarios=["slow_holder"])

        def test_broken(lock_lab):
            lock_lab.check(Token, claims=["releases_atomically"], scenarios=["slow_holder"])
        """,
    )

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "lab.pytest_lock_lab", timeout=180)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*A deletes B’s lock*"])
