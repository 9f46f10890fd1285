"""The HTTP answers of a replica, which are never a traceback, and the lines of its journal."""

from __future__ import annotations

import json

import pytest
import redis

from app.locks import lua
from app.resources.read_then_write import Counter
from app.stores import redis_connection
from app.web import create_app

FIELDS = {"value", "read", "wrote", "replica", "stage", "request", "waited_ms", "held_ms"}


@pytest.fixture(autouse=True)
def other_tests_are_not_counted(monkeypatch):
    """Leave out the clients of other tests: a replica counts all clients of its process."""
    monkeypatch.setattr(redis_connection, "SERVERS", set())


@pytest.fixture(params=["lua"])
def client(redis_port, tmp_path, request):
    flags = {"run": tmp_path.name, "journal": tmp_path / "journal.jsonl", "wait_ms": 100, "retry_ms": 5}
    address = f"127.0.0.1:{redis_port}"
    app = create_app(stage=request.param, redis_url=address, counter_url=address, **flags)
    return app.test_client()


@pytest.fixture
def journal(tmp_path):
    """Return a function that reads the replica's journal, without the lines about a machine that stood still."""

    def read():
        lines = map(json.loads, (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines())
        return [line for line in lines if line["what"] != "stalled"]

    return read


def test_answer_of_an_increment(client):
    """The answer to an increment holds the value that was read and the value that was written."""
    first, second = client.post("/increment").json, client.post("/increment").json

    assert set(first) == FIELDS
    assert (second["read"], second["wrote"], second["value"], second["stage"]) == (1, 2, 2, "lua")
    assert client.get("/value").json["value"] == 2


@pytest.mark.parametrize("client", ["none", "incr", "reentrant"], indirect=True)
def test_stages_without_a_usual_lock(client):
    """A replica also serves a stage that locks nothing, counts in the store, or acquires twice."""
    assert client.post("/increment").json["wrote"] == 1
    assert client.get("/value").json["value"] == 1


def test_request_id(client):
    """The request id is taken from the header, or generated."""
    assert client.post("/increment", headers={"X-Request-ID": "r-1"}).json["request"] == "r-1"
    assert len(client.post("/increment").json["request"]) == 32


@pytest.mark.parametrize("absurd", ["", "a b", "x" * 65, "<script>", "ü"])
def test_an_absurd_request_id_is_refused(client, absurd):
    answer = client.post("/increment", headers={"X-Request-ID": absurd.encode("utf-8").decode("latin-1")})

    assert answer.status_code == 400
    assert "X-Request-ID" in answer.json["reason"]


def test_lock_not_free_in_time(client, redis_port, journal, tmp_path):
    """A lock that is not free in time is answered with 503, and nothing is written."""
    redis.Redis(port=redis_port, redis_connect_func=redis_connection.uncounted).set(f"lab:{tmp_path.name}:lua:lock", "somebody's")

    answer = client.post("/increment")

    assert answer.status_code == 503
    assert "not free within 100 ms" in answer.json["reason"]
    assert client.get("/value").json["value"] == 0
    assert [line["what"] for line in journal()] == ["started", "gave_up"]


def test_journal_lines_of_an_increment(client, journal):
    """The journal has four lines for an increment, whose times are in order."""
    client.post("/increment", headers={"X-Request-ID": "r1"})

    lines = [line for line in journal() if line.get("request") == "r1"]

    assert [line["what"] for line in lines] == ["got", "writing", "wrote", "released"]
    assert lines[0]["asked_ns"] < lines[0]["got_ns"] < lines[1]["reading_ns"] < lines[1]["read_ns"] < lines[2]["wrote_ns"]
    assert (
        lines[1]["read_ns"] < lines[2]["writing_ns"] < lines[2]["wrote_ns"] < lines[3]["releasing_ns"] < lines[3]["released_ns"]
    )
    assert (lines[2]["value"], lines[2]["overwrote"], lines[3]["result"]) == (1, 0, "ok")


@pytest.mark.parametrize("client", ["reentrant"], indirect=True)
def test_release_of_a_lost_lock(client, redis_port, journal, tmp_path, monkeypatch):
    """The release of a lost lock is in the journal, and the client still gets status 200."""
    write = Counter.write

    def lose_the_lock(self, value, grant):
        redis.Redis(port=redis_port).delete(f"lab:{tmp_path.name}:reentrant:lock")
        return write(self, value, grant)

    monkeypatch.setattr(Counter, "write", lose_the_lock)

    assert client.post("/increment").status_code == 200
    assert journal()[-1]["result"] == "not_owner"


@pytest.mark.parametrize(
    ("method", "path", "status"), [("get", "/increment", 405), ("post", "/nowhere", 404), ("get", "/health", 200)]
)
def test_every_answer_is_json(client, method, path, status):
    answer = getattr(client, method)(path)

    assert answer.status_code == status
    assert answer.is_json


def test_store_that_is_gone(redis_port, monkeypatch, tmp_path):
    """A failing store gives status 503 in the acquire, which is before the write, and 500 in the write."""
    gone, here = "127.0.0.1:1", f"127.0.0.1:{redis_port}"
    app = create_app(stage="lua", redis_url=gone, counter_url=here, journal=tmp_path / "j", run="gone")

    answer = app.test_client().post("/increment")

    assert answer.status_code == 503
    assert "phase acquire" in answer.json["reason"]

    app = create_app(stage="none", counter_url=here, journal=tmp_path / "j", run="gone")
    monkeypatch.setattr(Counter, "write", lambda self, value, grant: self.client.execute_command("NOSUCH"))

    answer = app.test_client().post("/increment")

    assert answer.status_code == 500
    assert "phase write" in answer.json["reason"]


def test_lock_that_cannot_be_made(client, journal, monkeypatch):
    """An error in the constructor of a lock is in the journal, as the reason of its request."""

    def fail(*_: object) -> None:
        raise TypeError("no client")

    monkeypatch.setattr(lua.Lock, "__init__", fail)

    assert client.post("/increment").status_code == 500
    assert journal()[-1]["why"] == "TypeError: no client"
