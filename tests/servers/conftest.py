"""Fixtures of the tests with servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

import pymysql
import pytest
import redis
import redis.asyncio
from kazoo.client import KazooClient

from app.request.context import RequestContext
from app.stores import redis_connection
from lab.explore.store.real_redis import RealRedis, redis_server
from lab.judge.judgement import Judgement
from lab.servers.supervisor import Supervisor
from lab.story.verdict import why
from tests.trial import MADE_AGAIN, Tried, is_evidence, trial, until_settled

# a folder's name with characters that mean something to a shell or in a server's configuration
ODD = 'it\'s a "lab": $HOME `id` \\ 100% {b} #;\nnew line'


@pytest.fixture(scope="module")
def real() -> Iterator[RealRedis]:
    """Yield a Redis server that only the explorer uses."""
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    """Yield one supervisor for the servers of all runs of a test file."""
    with closing(Supervisor()) as one:
        yield one


@pytest.fixture(autouse=True)
def own_clients(monkeypatch) -> None:
    """Undo after each test the hooks by which a replica counts the clients of its process."""
    for kind in (redis.connection.AbstractConnection, redis.asyncio.connection.AbstractConnection):
        monkeypatch.setattr(kind, "on_connect_check_health", kind.on_connect_check_health)
    for kind in (KazooClient, pymysql.Connection):
        monkeypatch.setattr(kind, "__init__", kind.__init__)
    monkeypatch.setattr(redis_connection, "SERVERS", set())
    monkeypatch.setattr(RequestContext, "journal", None)


@pytest.fixture
def try_lock(supervisor, tmp_path, record_property) -> Callable[..., Tried]:
    """Return a function that runs a lock under a scenario, in a folder with an odd name. A run that is no evidence is made again.

    By default, a run that shows something is never made again: neither if it accuses a sound lock, nor if its verdict is wrong.
    """

    def tried(
        scenario: str,
        stage: str,
        given: Mapping[str, int | float],
        most: int = 2,
        is_settled: Callable[[Judgement], bool] = is_evidence,
    ) -> Tried:
        def again(judgement: Judgement) -> None:
            record_property(MADE_AGAIN, f"{scenario}: {why(judgement)}")

        return until_settled(lambda: trial(supervisor, scenario, stage, given, tmp_path / ODD), is_settled, most, again)

    return tried
