"""The recorder of a Redis server's events goes on when the server has ended and has started again."""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest
import redis

from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.stores.redis import RedisEvents


def test_recorder_of_a_server_that_ends(supervisor, tmp_path):
    """Events are recorded again when the server has started again, and a dead server does not delay the recorder's end."""
    server = process.start(RedisServer("lock-redis", notify=True), supervisor, tmp_path).wait()
    path = tmp_path / "server.jsonl"
    with closing(RedisEvents(server.port, path)) as recorder, closing(redis.Redis(port=server.port)) as client:
        set_until_recorded(client, "before", path)
        server.kill()
        server.start_again()
        set_until_recorded(client, "after", path)  # until the recorder has subscribed again
        server.kill()
        recorder.ask_to_end()
        recorder._thread.join(1.5)  # with retries of the client, it took longer than the two seconds that the lab waits

        assert not recorder._thread.is_alive()
    assert {event["key"] for event in events(path)} == {"before", "after"}


@pytest.mark.parametrize(("setting", "is_silenced"), [("KEA", False), ("AKEm", False), ("Kgx", True), ("", True)])
def test_reports_that_somebody_ends(setting, is_silenced, supervisor, tmp_path):
    """The recorder notices if a lock's settings take away some of the reports that the lab needs."""
    server = process.start(RedisServer("lock-redis", notify=True), supervisor, tmp_path).wait()
    with (
        closing(RedisEvents(server.port, tmp_path / "server.jsonl")) as recorder,
        closing(redis.Redis(port=server.port)) as client,
    ):
        client.config_set("notify-keyspace-events", setting)

        assert recorder.is_silenced is is_silenced
        server.kill()
        assert not recorder.is_silenced


def set_until_recorded(client, key, path):
    """Set a key again and again, until the recorder has written its event."""
    until_s = time.monotonic() + 20
    while not any(event["key"] == key for event in events(path)) and time.monotonic() < until_s:
        client.set(key, 1)
        time.sleep(0.02)


def events(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
