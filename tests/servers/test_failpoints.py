"""Failpoints on real stores: every stage reaches the same ones, in the same order."""

from __future__ import annotations

from uuid import uuid4

import pytest

from app.increment import Increment
from app.journal import Journal
from app.locks import stages
from app.request.context import RequestContext, here
from app.resources.read_then_write import Counter
from app.settings import Endpoint, Settings
from app.stores import lock_store
from app.stores.redis import counter_redis
from tests.spy import Spy

# a request of ``bucketed`` locks one of several keys: it reaches the failpoints at its key once a grant has shown the key
SHARED = [name for name, stage in stages().items() if stage.store in ("redis", "zookeeper", "etcd") and name != "bucketed"]


@pytest.fixture
def activate(monkeypatch):
    """Return a function that sets the failpoints of this process until the test ends."""
    return lambda failpoints: monkeypatch.setattr(RequestContext, "failpoints", failpoints)


@pytest.fixture
def increment(redis_port, store_url, tmp_path):
    """Yield a function that does one increment under a stage, with a key that only this test uses."""
    address, run_name = Endpoint.parse(f"127.0.0.1:{redis_port}"), uuid4().hex
    journal, clients = Journal(tmp_path / "journal"), {}

    def client(name: str):
        if name not in clients:
            where = address if name == "redis" else Endpoint.parse(store_url(name))
            clients[name] = lock_store(name, Settings(**{f"{name}_url": where}), counted=True)
        return clients[name]

    def run(name: str, wait_ms: int = 5000):
        key = f"lab:{run_name}:{name}:lock"
        lock = stages()[name].lock(client(stages()[name].store), key, 1000, wait_ms, 5)
        counter = Counter(counter_redis(Settings(counter_url=address)), f"{key}:counter")
        return Increment("r1", counter, journal, 0).run(lambda: lock)

    yield run
    for one in clients.values():
        one.close()


@pytest.mark.parametrize("name", SHARED)
def test_failpoints_in_order(increment, activate, tmp_path, name):
    """Every stage reaches the same failpoints in the same order."""
    increment(name)  # loads the scripts: the first request of a stage sends more commands than usual
    activate(spy := Spy(tmp_path))
    increment(name)
    spy.reached.clear()

    increment(name)

    phases = ["acquire", "read", "think", "write", "release"]
    reached = [point for point in spy.reached if not point.startswith("renew")]  # a heartbeat comes at any time
    assert [point for point in reached if point.endswith("before")][:5] == [f"{phase}.before" for phase in phases]
    assert spy.reached.count("acquire.after_first") == 1
    assert spy.reached.count("release.before_last") == 1
    assert spy.reached.index("acquire.after_first") < spy.reached.index("read.before") < spy.reached.index("release.before_last")


def test_before_last_of_a_release(increment, activate, tmp_path):
    """The failpoint before the last command of a release comes after a compare that is a command of its own."""
    seen = []

    class Watching(Spy):
        def reach(self, phase, moment, request, keys=()):
            if (phase, moment) == ("release", "before_last"):
                seen.append(here().sent.commands)

    for name, commands in (("uuid", 1), ("lua", 0), ("ttl", 0)):
        activate(None)
        increment(name)  # loads the scripts: the first request of a stage sends more commands than usual
        activate(Watching(tmp_path))
        increment(name)
        seen.clear()
        increment(name)
        assert seen == [commands], name
