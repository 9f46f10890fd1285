"""A user's own load test drives a run: its users, its shape, and its requests in flight at the end."""

from __future__ import annotations

import csv
import json

import pytest

from lab.evidence.history import History
from tests.command import Done, run, warm

SLEEPY = """
from locust import HttpUser, between, task

class Buyer(HttpUser):
    wait_time = between(0.01, 0.1)

    @task(3)
    def buy(self):
        self.client.post("/increment")

    @task
    def look(self):
        self.client.get("/value")
"""
# when Locust ends, requests that no user waits for are in flight; the exit status is set as a user's pipeline may do
FAST = """
import gevent
from locust import FastHttpUser, constant, events, task

class Buyer(FastHttpUser):
    wait_time = constant(0.01)

    @task
    def buy(self):
        with self.client.post("/increment", name="buy", headers={"x-request-id": "mine"}, catch_response=True) as answer:
            answer.failure("in the user's own words")

    @task
    def buy_aside(self):
        gevent.spawn(self.client.post, "/increment")

@events.quitting.add_listener
def fail(environment, **_):
    environment.process_exit_code = 1
"""
SHAPE = """
from locust import LoadTestShape

class RushThenQuiet(LoadTestShape):
    def tick(self):
        if self.get_run_time() < 2:
            return 40, 40
        return (2, 40) if self.get_run_time() < 3 else None
"""


def stats(done: Done) -> dict[str, int]:
    """Return how many requests Locust's own table has, by name."""
    with (done.folder / "locust_stats.csv").open(encoding="utf-8", newline="") as file:
        return {row["Name"]: int(row["Request Count"]) for row in csv.DictReader(file)}


def test_users_of_its_own(tmp_path):
    """Requests in flight at the end are unknown, not lost; other paths do not count; the folder alone gives the same verdict."""
    (tmp_path / "sleepy.py").write_text(SLEEPY, encoding="utf-8")

    done = run("rush", "lua", tmp_path, load="sleepy.py", run_time=3, users=40, work_ms=10)
    verdict, requests = done.verdict, list(History(done.folder).requests())

    assert (done.status, verdict["verdict"], verdict["lost"]) == (0, "KEPT", 0)
    assert verdict["acknowledged"] + verdict["unknown"] == len(requests) == verdict["requests"]
    assert verdict["unknown"] > 0
    assert verdict["acknowledged"] <= verdict["final"] == verdict["writes"] <= len(requests)
    assert stats(done)["/value"] > 0
    assert stats(done)["/increment"] == verdict["acknowledged"]  # Locust's table has no requests in flight
    assert {one.status for one in requests if one.outcome == "unknown"} == {0}
    assert (done.folder / "locust.html").exists()
    scenario = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["scenario"]
    assert (scenario["own_load"], scenario["run_time"], scenario["requests"], scenario["users"]) == ("sleepy.py", 3, 0, 40)
    assert json.loads(warm("check", done.folder, "--json", cwd=tmp_path).out) == verdict


def test_shape_of_its_own(tmp_path):
    """A shape sets the users and ends the load, in several processes; only increments that were written over are lost."""
    (tmp_path / "shape.py").write_text(FAST + SHAPE, encoding="utf-8")

    done = run("rush", "none", tmp_path, load="shape.py", work_ms=10, processes=2)
    verdict, requests = done.verdict, list(History(done.folder).requests())

    assert verdict["verdict"] == "ADMITTED"
    assert len({one.id for one in requests}) == len(requests) == verdict["requests"]
    assert "mine" not in {one.id for one in requests}
    assert verdict["lost"] == verdict["writes"] - verdict["final"] > 0
    assert verdict["unknown"] > 0
    assert verdict["duration_s"] > 2
    assert json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["scenario"]["users"] == 0


def test_time_ends_the_load_of_the_lab(tmp_path):
    """A run time ends the lab's own load, and a shape that would go on."""
    (tmp_path / "endless.py").write_text(FAST + SHAPE.replace("else None", "else (2, 40)"), encoding="utf-8")

    plain = run("rush", "incr", tmp_path, run_time="2s", users=20)
    shaped = run("rush", "incr", tmp_path, run_time="0m3s", load="endless.py")

    for done, least_s in ((plain, 1), (shaped, 2)):
        assert (done.status, done.verdict["verdict"], done.verdict["lost"]) == (0, "KEPT", 0)
        assert done.verdict["duration_s"] > least_s
    assert stats(shaped)["buy"] > 0
    assert not (plain.folder / "locust.html").exists()
    assert stats(plain)["/increment"] == plain.verdict["acknowledged"]


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        ("class A(", ["--run-time", "3s"], "Locust cannot load own.py, line 1: SyntaxError"),
        ("\nimport nowhere", ["--run-time", "3s"], "Locust cannot load own.py, line 2: ModuleNotFoundError: No module"),
        ("", ["--run-time", "3s"], "Locust cannot load own.py: No User class found!"),
        (SLEEPY, [], "--run-time is missing: own.py has no LoadTestShape"),
        (SLEEPY + SHAPE, ["--spawn-rate", "9"], "--spawn-rate has no effect: RushThenQuiet in own.py decides"),
    ],
)
def test_load_that_cannot_drive(text, words, why, tmp_path):
    """A file that Locust cannot load, and a load without an end, are refused before any server starts."""
    (tmp_path / "own.py").write_text(text, encoding="utf-8")

    done = warm("run", "rush", "--stage", "lua", "--load", "own.py", *words, cwd=tmp_path)

    assert done.status == 2
    assert why in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "reports").exists()
