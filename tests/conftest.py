"""Real servers for the tests whose point they are. A missing server fails them; nothing is skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab import service
from lab.keeper import Keeper
from lab.services.mariadb import MariaDB
from lab.services.redis import Redis
from lab.stores import stores


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory) -> Iterator[int]:
    """The port of a Redis server of the tests' own."""
    keeper = Keeper()
    try:
        yield service.start(Redis("test-redis"), keeper, tmp_path_factory.mktemp("redis")).wait().port
    finally:
        keeper.close()


@pytest.fixture(scope="session")
def mysql_url(tmp_path_factory) -> Iterator[str]:
    """Where a MariaDB server of the tests' own is."""
    keeper = Keeper()
    try:
        yield stores()["mysql"].url([service.start(MariaDB(), keeper, tmp_path_factory.mktemp("mysql")).wait()])
    finally:
        keeper.close()
