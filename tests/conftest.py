"""A real Redis for the tests whose point it is. A missing server fails them; nothing is skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab import service
from lab.keeper import Keeper
from lab.services.redis import Redis


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory) -> Iterator[int]:
    """The port of a Redis server of the tests' own."""
    keeper = Keeper()
    try:
        yield service.start(Redis("test-redis"), keeper, tmp_path_factory.mktemp("redis")).wait().port
    finally:
        keeper.close()
