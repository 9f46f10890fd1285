"""Gates: the moments of a request, as every stage passes them; armed by files, spent once, silent when unarmed."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from app import gate
from app.counter import Increment
from app.endpoint import Endpoint
from app.gate import Armed, Gates, Passage, ReplyLost, Struck, passage
from app.journal import Journal
from app.locks import stages
from app.resources.read_then_write import Counter
from app.settings import Settings
from app.stores import lock_store
from app.stores.redis import counter_redis

pytestmark = pytest.mark.real
SHARED = [name for name, stage in stages().items() if stage.store in ("redis", "zookeeper", "etcd")]


class Spy(Gates):
    """Writes down who comes by, and strikes nobody."""

    def __init__(self) -> None:
        self.passed: list[str] = []

    def strike(self, phase: str, moment: str, request: str) -> None:
        self.passed.append(f"{phase}.{moment}")


@pytest.fixture
def unarmed(monkeypatch):
    monkeypatch.setattr(gate, "gates", None)
    monkeypatch.setattr(gate, "usual", {})


@pytest.fixture
def increment(redis_port, store_url, tmp_path, unarmed):
    """Do one increment under a stage; its key is new, so nobody is in the way."""
    address = Endpoint.parse(f"127.0.0.1:{redis_port}")
    journal, clients = Journal(tmp_path / "journal"), {}

    def client(name: str):
        if name not in clients:
            where = address if name == "redis" else Endpoint.parse(store_url(name))
            clients[name] = lock_store(name, Settings(**{f"{name}_url": where}), journal)
        return clients[name]

    def run(name: str, key: str | None = None):
        key = key or f"lab:test:{uuid4().hex}"
        lock = stages()[name].lock(client(stages()[name].store), key, 1000, 200, 5)
        return Increment("r1", Counter(counter_redis(Settings(counter_url=address)), f"{key}:counter"), journal, 0).run(lock)

    yield run
    for one in clients.values():
        one.close()


@pytest.mark.parametrize("name", SHARED)
def test_every_stage_passes_the_same_gates_in_the_same_order(increment, monkeypatch, name):
    increment(name)
    monkeypatch.setattr(gate, "gates", spy := Spy())
    increment(name)
    spy.passed.clear()

    increment(name)

    phases = ["acquire", "read", "think", "write", "release"]
    assert [passed for passed in spy.passed if passed.endswith("before")][:5] == [f"{phase}.before" for phase in phases]
    assert spy.passed.count("acquire.after_first") == 1
    assert spy.passed.count("release.before_last") == 1
    assert spy.passed.index("acquire.after_first") < spy.passed.index("read.before") < spy.passed.index("release.before_last")


def test_before_the_last_command_of_a_release_is_between_look_and_delete(increment, monkeypatch):
    seen = []

    class Watching(Spy):
        def strike(self, phase, moment, request):
            if (phase, moment) == ("release", "before_last"):
                seen.append(passage.commands)

    for name, commands in (("uuid", 1), ("lua", 0), ("ttl", 0)):
        monkeypatch.setattr(gate, "gates", Watching())
        increment(name)
        seen.clear()
        increment(name)
        assert seen == [commands], name


def arm(folder, **fields) -> None:
    armed = Armed(name="fault-1", **fields)
    (folder / "fault-1.json").write_text(
        json.dumps({field: getattr(armed, field) for field in Armed.__slots__}), encoding="utf-8"
    )


def test_an_armed_gate_strikes_once_and_leaves_word_of_whom(increment, monkeypatch, tmp_path):
    arm(tmp_path, gate="read.before", action="raise", skip=2)
    monkeypatch.setattr(gate, "gates", Gates(tmp_path, "replica-7"))

    increment("lua")
    with pytest.raises(Struck, match=r"fault-1 struck at read\.before"):
        increment("lua")
    increment("lua")

    word = json.loads((tmp_path / "fault-1.struck").read_text(encoding="utf-8"))
    assert (word["replica"], word["request"]) == ("replica-7", "r1")


def test_of_two_replicas_only_one_is_struck_and_none_again_after_coming_back(tmp_path):
    arm(tmp_path, gate="read.before", action="raise")
    one, other = Gates(tmp_path, "replica-1"), Gates(tmp_path, "replica-2")

    with pytest.raises(Struck):
        one.strike("read", "before", "r1")
    other.strike("read", "before", "r2")
    Gates(tmp_path, "replica-1").strike("read", "before", "r3")

    assert json.loads((tmp_path / "fault-1.struck").read_text(encoding="utf-8"))["request"] == "r1"


def test_a_lost_reply_is_answered_by_sending_again_and_locks_a_plain_lock_out_by_itself(increment, monkeypatch, tmp_path):
    from app.lock import NotAcquired

    arm(tmp_path, gate="acquire.after_first", action="lose_reply")
    monkeypatch.setattr(gate, "gates", Gates(tmp_path, "replica-1"))

    with pytest.raises(NotAcquired):
        increment("lua")
    assert ReplyLost


def test_unarmed_gates_strike_nobody(increment):
    assert increment("watchdog").wrote == 1


@pytest.mark.parametrize(("answers", "said_yes"), [((1, 0), True), ((0, 1), True), ((0,), False), ((-5, None), False)])
def test_a_yes_to_any_command_of_a_phase_is_a_yes_and_is_forgotten_with_the_phase(answers, said_yes):
    one = Passage()
    one.enter("acquire")
    for answer in answers:
        one.sent("COMMAND", answer)

    assert one.said_yes is said_yes
    one.enter("read")
    assert not one.said_yes
