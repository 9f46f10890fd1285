"""Mark each test by its folder, and start the servers for the tests that need real ones.

A missing server fails these tests; nothing is skipped.
"""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from lab.scenario import reader
from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor
from tests.command import AGAIN
from tests.trial import MADE_AGAIN

pytest_plugins = ["tests.chromium"]
TESTS = Path(__file__).parent
os.environ["LC_ALL"] = "C.UTF-8"  # pages are English in the tests, whatever language the developer has


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test by its folder: unit, servers, browser or containers. Without ``-m trial``, leave out the long tests."""
    for item in items:
        item.add_marker(item.path.relative_to(TESTS).parts[0])
    if "trial" not in config.option.markexpr:
        long = [item for item in items if item.get_closest_marker("trial")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def pytest_collection_finish() -> None:
    """Let the garbage collector ignore all objects that exist before the tests begin."""
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of the tests that take long."""
    config.addinivalue_line("markers", "trial: the whole of what an ordinary run has a sample of")


@pytest.fixture(autouse=True)
def _runs_made_again(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Note in a test's report the runs that it made again."""
    yield
    while AGAIN:
        record_property(MADE_AGAIN, AGAIN.pop())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many runs were made again, and why."""
    reports = [one for some in terminalreporter.stats.values() for one in some if getattr(one, "when", "") == "teardown"]
    again = [(one.nodeid, why) for one in reports for name, why in one.user_properties if name == MADE_AGAIN]
    if again:
        terminalreporter.section(f"{len(again)} runs were made again")
        for test, why in again:
            terminalreporter.line(f"{test}: {why}")


@pytest.fixture
def key() -> str:
    """Return a key of a lock that no other test has."""
    return f"lab:test:{uuid4().hex}"


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory) -> Iterator[int]:
    """Yield the port of a Redis server for the tests."""
    supervisor = Supervisor()
    try:
        yield process.start(RedisServer("test-redis"), supervisor, tmp_path_factory.mktemp("redis")).wait().port
    finally:
        supervisor.close()


@pytest.fixture(scope="session")
def store_url(tmp_path_factory) -> Iterator[Callable[[str], str]]:
    """Yield a function that returns the URL of a store's server by the store's name; its first call starts the server."""
    supervisor, found = Supervisor(), {}

    def url(name: str) -> str:
        if name not in found:
            programs = store_servers(name).programs(reader.load("rush"))
            starting = [process.start(one, supervisor, tmp_path_factory.mktemp(name)) for one in programs]
            found[name] = store_servers(name).url([one.wait() for one in starting])
        return found[name]

    try:
        yield url
    finally:
        supervisor.close()


@pytest.fixture(scope="session")
def mysql_url(store_url) -> str:
    """Return the URL of a MariaDB server for the tests."""
    return store_url("mysql")
