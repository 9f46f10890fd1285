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
    """A user's lock, which does not know the lab."""

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
'''


LINES = ("24: if self.client.get(self.name) == self.token.encode():", "25: self.client.delete(self.name)")


@pytest.fixture
def here(tmp_path):
    """Return a folder with a module of a user's locks."""
    (tmp_path / "locks_of_mine.py").write_text(LOCKS, encoding="utf-8")
    (tmp_path / "my_worker.mjs").touch()
    return tmp_path


def test_class_is_condemned(here):
    """A class that compares and deletes in two steps is condemned, with the two lines between which another request comes."""
    claims = "releases_only_its_own releases_atomically"
    words = ("--claims", claims, "--scenario", "slow_holder", "--budget", "60", "--out", "out")
    for _ in range(2):  # a busy machine can keep a run from its danger: that proves nothing
        shutil.rmtree(here / "out", ignore_errors=True)
        (here / "lab_token.py").unlink(missing_ok=True)
        done = lab("test", "locks_of_mine:Token", *words, "--junit", "j.xml", cwd=here)
        own, atomic = json.loads((here / "out" / "test.json").read_text(encoding="utf-8"))["claims"]
        if own["cells"][0]["verdict"] != "VOID":
            break
        AGAIN.append("lab test")
    suite = ET.parse(here / "j.xml").getroot()[0]  # noqa: S314 - the lab wrote it
    assert done.status == 1, done.err
    assert (own["orders"], own["cells"][0]["verdict"]) == ("holds", "KEPT")
    assert atomic["orders"] == "breaks"
    assert 'key="lock:{key}"' in (here / "lab_token.py").read_text(encoding="utf-8")
    assert (here / "out" / atomic["schedule"]).is_file()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "0")
    assert atomic["between"] == [f"locks_of_mine.py:{line}" for line in LINES]
    assert atomic["mended_by"] == "lua"
    assert done.out.index(atomic["between"][1]) < done.out.index("1 promise of 2 broken")
    assert "releases_atomically" in (here / "out" / "test.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    sampled(
        [
            (["locks_of_mine:Tokn"], 2, "there is no class or function 'Tokn'. Did you mean 'Token'?"),
            (["../locks_of_mine:Token"], 2, "'../locks_of_mine' is not the name of a module. Give the path of its file"),
            (["my_worker.mjs"], 2, "my_worker.mjs is not a file of Python. A lock in another language: lab new NAME --worker"),
            (["locks_of_mine:Token", "--claims", "exclusiv"], 2, "Did you mean 'exclusive'?"),
            (["locks_of_mine:Token", "--scenario", "rushh", "--budget", "600"], 2, "no scenario 'rushh'. Did you mean 'rush'?"),
        ],
        [
            ["locks_of_mine:Token", "--scenario", "rushh", "--budget", "600"],
        ],
    ),
)
def test_bad_lock(words, status, said, here):
    """A lock, claim or scenario that cannot be tested is refused with the reason or the nearest choice."""
    done = lab("test", *words, cwd=here)

    assert (done.status, said in done.err) == (status, True), done.err


@pytest.mark.parametrize(
    "begun",
    sampled(
        [["--worker", "node"], ["--worker", "php"], ["--worker", "python"]],
        [["--worker", "node"]],
    ),
    ids="-".join,
)
def test_new_lock_runs(begun, tmp_path):
    """``lab new`` writes a lock that runs as it is, and does not overwrite one that is there."""
    made = warm("new", "mine", *begun, cwd=tmp_path)
    again = warm("new", "mine", cwd=tmp_path)
    done = run("slow_holder", "./mine.py", tmp_path)

    assert (made.status, again.status) == (0, 2), made.err
    assert done.verdict["verdict"] == "KEPT", done.err


def test_fixture(pytester, here):
    """The fixture passes a sound lock, and fails for a wrong lock with the schedule that breaks it."""
    pytester.makepyfile(
        locks_of_mine=LOCKS,
        test_mine="""
        from locks_of_mine import Token, make

        def test_sound(lock_lab):
            lock_lab.check(make, "--claims", "releases_only_its_own", "--scenario", "slow_holder")

        def test_broken(lock_lab):
            lock_lab.check(Token, "--claims", "releases_atomically", "--scenario", "slow_holder")
        """,
    )

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "pytest_lock_lab", timeout=180)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*A deletes B’s lock*"])
