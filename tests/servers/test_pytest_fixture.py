"""The fixture ``lock_lab``: a user's test file decides every order of events of a lock."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil
import pytest

from lab.servers.own_redis import PREFIX

pytest_plugins = ["pytester"]

SOUND = (Path(__file__).parents[2] / "app/locks/lua.py").read_text(encoding="utf-8")
BROKEN = SOUND.replace("if redis.call('get', KEYS[1]) == ARGV[1] then", "if true then")
RAISES = SOUND.replace("        self.acquire()\n", "        self.acquire()\n        1 / 0\n")
TESTS = """
from my_lock import STAGE

def test_path(lock_lab):
    found = lock_lab.explore("my_lock.py", clients=2, pauses=1, claim="releases_only_its_own")
    assert found["promises"] == {"releases_only_its_own": "holds"}

def test_stage(lock_lab):
    lock_lab.explore(STAGE, clients=2, pauses=0, budget_s=20, claim="exclusive")
"""
OPEN = """
def test_open(lock_lab):
    lock_lab.explore("my_lock.py", clients=3, pauses=3, budget_s=1, claim="exclusive")

def test_allowed(lock_lab):
    lock_lab.explore("my_lock.py", clients=3, pauses=3, budget_s=1, claim="exclusive", allow_undecided=True)
"""
WRONG = """
def test_option(lock_lab):
    lock_lab.explore("my_lock.py", pause=1)

def test_claim(lock_lab):
    lock_lab.explore("my_lock.py", claim="exclusiv")

def test_file(lock_lab):
    lock_lab.explore("no_lock.py")
"""


@pytest.fixture
def run(pytester):
    """Return a function that runs tests of a user next to a lock; no server and no folder of an exploration is left."""

    def ran(lock, tests):
        pytester.makepyfile(my_lock=lock, test_it=tests)
        before = folders()
        done = pytester.runpytest_subprocess("-p", "pytest_lock_lab", "-p", "no:cacheprovider", "-q")
        assert folders() <= before, "an exploration has left a folder"
        others = [one for one in psutil.process_iter(["cwd"]) if one.pid != os.getpid()]
        assert not [one for one in others if str(one.info["cwd"]).startswith(str(pytester.path))]
        return done

    return ran


def folders():
    """Return the folders of explorations whose process is gone: others may explore at the same time."""
    found = Path(tempfile.gettempdir()).glob(f"{PREFIX}*")
    return {one for one in found if not psutil.pid_exists(int(one.name.removeprefix(PREFIX).partition("-")[0]))}


def test_broken(run):
    """A broken lock fails the test, which prints the lanes, how to run the schedule again, and last the verdict."""
    done = run(BROKEN, TESTS)

    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        ["*1 pause*", "*counter*", "*again: * --replay *", "*my_lock breaks 1 promise*", "*breaks *(releases_only_its_own)*"]
    )
    done.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.trial
def test_raises(run):
    """A lock that raises an error without a fault fails the test, with the error and its line."""
    done = run(RAISES, "def test_it(lock_lab):\n    lock_lab.explore('my_lock.py', clients=2, pauses=0, allow_undecided=True)")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*Nothing is decided of my_lock: a request fails although nothing was injected: ZeroDivisionError*"]
    )


@pytest.mark.trial
def test_undecided_and_bad_input(run):
    """A test fails that has no time, unless it allows this; and one with a wrong option, claim or file, with what there is."""
    done = run(SOUND, OPEN + WRONG)

    done.assert_outcomes(passed=1, failed=4)
    done.stdout.fnmatch_lines(["*Nothing is decided of my_lock: the time was over*"])
    done.stdout.fnmatch_lines(["*no option '--pause'*'--pauses'*", "*no claim 'exclusiv'*'exclusive'*", "*no file 'no_lock.py'*"])
