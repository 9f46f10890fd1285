"""``lab count`` on the programs of docs/count.md, which lose increments or lose none, and on one that does not answer."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing

import pytest
import redis

from lab.count.count import _settled
from lab.count.number import reader
from lab.errors import BadInput, NotReady
from lab.paths import DOCS
from lab.servers.ports import free_port
from lab.servers.supervisor import Supervisor
from tests.command import lab, listens, wait_for

SLOW = """import time
from flask import Flask
app = Flask(__name__)
@app.post("/buy")
def buy():
    time.sleep(2)
    return ""
"""
FLASK = ("shop.py", [sys.executable, "-m", "flask", "--app", "shop", "run", "--port", "8000"], "/buy")
NODE = ("shop.mjs", ["node", "shop.mjs"], "/")
PHP = ("shop.php", ["php", "-S", "127.0.0.1:8000", "shop.php"], "/")
REDIS = "redis://127.0.0.1:{redis}/0?get=sold"
PAGE = "http://127.0.0.1:{port}/"


def program(language: str, number: int = 0, page: str = "count.md") -> str:
    """Return a program from a document, by its language and its number."""
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)[number]


@pytest.mark.parametrize(
    ("source", "how", "read", "options", "status", "result"),
    [
        pytest.param(program("python"), FLASK, REDIS, ["--stock", 100], 1, "oversold", id="flask"),
        pytest.param(program("python", 1), FLASK, REDIS, ["--stock", 100], 0, "agrees", id="cure"),
        pytest.param(program("js"), NODE, PAGE, [], 1, "lost", id="node"),
        pytest.param(program("php"), PHP, PAGE, [], 1, "lost", id="php"),
        pytest.param(SLOW, FLASK, REDIS, ["--timeout-s", 0.5], 3, "open", id="slow"),
    ],
)
def test_programs(redis_port, tmp_path, source, how, read, options, status, result):
    """A program that loses increments is found, a sound one agrees, and one that answers too late leaves the result open."""
    (name, argv, path), port = how, free_port()
    redis.Redis(port=redis_port).delete("sold")
    (tmp_path / name).write_text(source.replace("redis.Redis()", f"redis.Redis(port={redis_port})").replace("8000", f"{port}"))
    with closing(Supervisor()) as supervisor:
        environment = {**os.environ, "PHP_CLI_SERVER_WORKERS": "8"}
        supervisor.start([word.replace("8000", f"{port}") for word in argv], environment, tmp_path, tmp_path / "log")
        wait_for(lambda: listens(port))
        where = ["--post", f"http://127.0.0.1:{port}{path}", "--read", read.format(redis=redis_port, port=port)]
        requests = 40 if result == "open" else 200
        done = lab("count", *where, "--requests", requests, "--users", 20, "--out", tmp_path / "count", *options, cwd=tmp_path)
    assert (done.status, done.err) == (status, "")
    (found,) = json.loads((tmp_path / "count" / "count.json").read_text("utf-8"))
    assert found["result"] == result
    assert sum(found[name] for name in ("acknowledged", "refused", "failed", "unknown")) == requests
    assert (tmp_path / "count" / "count.svg").stat().st_size > 1000


def test_locustfile(redis_port, tmp_path):
    """The answers to the users of another locustfile are counted, and a host that was not allowed is refused."""
    user = "from locust import HttpUser, task\nclass User(HttpUser):\n    host = 'http://{}'\n    @task\n    def buy(self):\n"
    user += "        self.client.get('/static/none')\n        self.client.post('/buy')\n"
    port = free_port()
    (tmp_path / "shop.py").write_text(program("python", 1).replace("Redis()", f"Redis(port={redis_port})").replace("100", "1000"))
    words = ["count", "--locustfile", "load.py", "--run-time", "3s", "--users", 5, "--read", REDIS.format(redis=redis_port)]
    with closing(Supervisor()) as supervisor:
        argv = [word.replace("8000", f"{port}") for word in FLASK[1]]
        supervisor.start(argv, dict(os.environ), tmp_path, tmp_path / "log")
        wait_for(lambda: listens(port))
        (tmp_path / "load.py").write_text(user.format(f"127.0.0.1:{port}"))
        done = lab(*words, "--junit", "count.xml", cwd=tmp_path)
        (tmp_path / "load.py").write_text(user.format("192.0.2.1"))
        elsewhere = lab(*words, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert 'failures="0" skipped="0"' in (tmp_path / "count.xml").read_text("utf-8")
    assert elsewhere.status == 2
    assert "--allow-host 192.0.2.1" in elsewhere.err


def test_readers(redis_port, mysql_url):
    """A number is read from Redis and by SQL; a wrong type, a missing server and a command that writes are errors."""
    redis.Redis(port=redis_port).hset("item", "sold", 7)
    redis.Redis(port=redis_port).acl_setuser("me", enabled=True, passwords=["+p@ss"], keys="*", categories=["+@all"])
    where = f"redis://me:p%40ss@127.0.0.1:{redis_port}/0"
    assert [reader(f"{where}?{ask}")() for ask in ("hget=item&field=sold", "hlen=item", "get=missing")] == [7, 1, 0]
    assert reader(f"mysql://root@{mysql_url}?query=select 40 %2b 2")() == 42
    for bad, error in ((f"{where}?get=item", NotReady), ("redis://127.0.0.1:1/0?get=a", NotReady), (f"{where}?del=a", BadInput)):
        with pytest.raises(error):
            reader(bad)()


@pytest.mark.parametrize(
    ("user", "options", "is_as_expected"),
    [
        ("InFlight", [], lambda sent, failed, number: failed == 0 and sent < number <= sent + 20),
        ("InFlight", ["--stop-timeout", "10"], lambda sent, failed, number: failed == 0 and number == sent),
        ("TimeOuts", ["--stop-timeout", "10"], lambda sent, failed, number: 0 < number <= failed == sent),
        ("Retries", ["--stop-timeout", "10"], lambda sent, failed, number: number > sent),
        ("LostUpdates", ["--stop-timeout", "10"], lambda sent, failed, number: failed == 0 and number < sent),
    ],
)
def test_numbers(redis_port, tmp_path, user, options, is_as_expected):
    """For each cause in docs/numbers.md, Locust's numbers and the database's number differ as that page says."""
    store, port = redis.Redis(port=redis_port), free_port()
    source = program("python", 0, "numbers.md").replace("Redis()", f"Redis(port={redis_port})")
    (tmp_path / "shop.py").write_text(source, encoding="utf-8")
    # users begin together: with requests of 2 s, a run of an odd number of seconds ends while all of them are in flight
    load = program("python", 1, "numbers.md").replace("slow=0.5", "slow=2")
    (tmp_path / "load.py").write_text(load, encoding="utf-8")
    words = ["--headless", "--users", "20", "--spawn-rate", "20", "--host", f"http://127.0.0.1:{port}", "--json", *options]
    with closing(Supervisor()) as supervisor:
        server = [word.replace("8000", f"{port}") for word in FLASK[1]]
        supervisor.start(server, dict(os.environ), tmp_path, tmp_path / "log")
        wait_for(lambda: listens(port))
        for run_time in ("3s", "11s", "31s"):  # a busy machine may serve too few requests in the first
            store.set("sold", 0)
            locust = [sys.executable, "-m", "locust", "-f", "load.py", user, *words, "--run-time", run_time]
            done = subprocess.run(locust, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
            number = _settled(lambda: int(store.get("sold")))
            table = [(one["num_requests"], one["num_failures"]) for one in json.loads(done.stdout[done.stdout.index("[") :])]
            if table and is_as_expected(*table[0], number):
                return
    raise AssertionError(f"requests and failures {table}, and {number} were counted")
