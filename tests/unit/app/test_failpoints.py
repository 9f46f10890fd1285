"""Test the failpoints: a fault is prepared as a file, and injected once, by one thread of one replica."""

import contextlib
import json
import threading
from collections.abc import Iterator
from time import monotonic_ns

import pytest

from app.failpoints import ACQUIRE, AFTER, BEFORE, PASSED_WITHIN_S, READ, RELEASE, RENEW, WRITE, Injection, may_end
from app.failpoints.injection import Failpoints, InjectedError
from app.request.answer import NO_KEY, Meaning
from app.request.context import RequestContext
from lab.containers import agent
from lab.containers.server import Relay
from tests.every import every
from tests.spy import Spy


def prepare(folder, name: str, **fields) -> None:
    injection = Injection(name=name, **fields)
    text = json.dumps({field: getattr(injection, field) for field in Injection.__slots__})
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def test_one_replica_injects(tmp_path):
    """Of two replicas only one injects a fault, and neither injects it again after a restart."""
    prepare(tmp_path, "fault-1", failpoint="read.before", action="raise")
    one, other = Failpoints(tmp_path, "replica-1"), Failpoints(tmp_path, "replica-2")

    with pytest.raises(InjectedError):
        one.reach("read", "before", "r1")
    other.reach("read", "before", "r2")
    Failpoints(tmp_path, "replica-1").reach("read", "before", "r3")

    assert json.loads((tmp_path / "fault-1.reached").read_text(encoding="utf-8"))["request"] == "r1"


class Container(agent.Agent):
    """A replica in a container; its agent is called without a network."""

    name = "a replica"

    def ask(self, method: str, path: str, body: str | None = None) -> object:
        answer = agent.app_of(self).test_client().open(path, method=method, data=body)
        assert answer.status_code == 200, answer.text
        return answer.json


@pytest.fixture(params=["one machine", "containers"])
def late_writes(request, tmp_path, monkeypatch) -> Iterator[list[Failpoints]]:
    """Yield the failpoints of two replicas; the first that reaches read.after gets a fault that delays its write."""
    monkeypatch.setattr(agent, "launch", lambda *_: 0)
    with contextlib.ExitStack() as ending:
        folders = [tmp_path, tmp_path]
        if request.param == "containers":
            one, other = (Container("replica", None, tmp_path / name) for name in ("one", "other"))  # type: ignore[arg-type]
            for each in (one, other):
                each.folder.mkdir()
                each.begin({"name": each.name, "settings": {}, "faults": {}})
            relay = Relay(one, tmp_path / "record", tmp_path, peers=[other])
            relay.start()
            ending.callback(relay.close)
            folders = [one.faults, other.faults]
        for folder in folders:
            prepare(folder, "fault-1", failpoint="read.after", action="wait", writes_late=True)
        yield [Failpoints(folder, f"replica-{number}") for number, folder in enumerate(folders, 1)]


def test_gate_of_late_writes(late_writes):
    """A late write waits until no request of any replica is between read and write; no request reads before it is written."""
    one, other = late_writes
    for moment in (BEFORE, AFTER):
        one.reach(READ, moment, "late")
    other.reach(READ, BEFORE, "early")
    late = threading.Thread(target=one.reach, args=(WRITE, BEFORE, "late"))
    late.start()
    late.join(0.1)
    assert late.is_alive()

    other.reach(RELEASE, BEFORE, "early")
    late.join(5)
    readers = [threading.Thread(target=at.reach, args=(READ, BEFORE, name)) for at, name in ((one, "next"), (other, "third"))]
    for reader in readers:
        reader.start()
        reader.join(0.1)
    assert (late.is_alive(), [reader.is_alive() for reader in readers]) == (False, [True, True])

    one.reach(RELEASE, BEFORE, "late")
    for reader in readers:
        reader.join(5)
    assert not any(reader.is_alive() for reader in readers)


def test_stopped_request_goes_on_beside_another(tmp_path):
    """A fault that is due may end once another request has read; that request waits until the stopped one has gone on."""
    prepare(tmp_path, "fault-1", failpoint="read.after", action="wait", writes_late=True)
    one, other = Failpoints(tmp_path, "replica-1"), Failpoints(tmp_path, "replica-2")
    one.reach(READ, AFTER, "stopped")
    other.reach(READ, AFTER, "early")
    assert not may_end(tmp_path, "fault-1")
    beside = threading.Thread(target=other.reach, args=(READ, AFTER, "next"))
    beside.start()
    beside.join(0.1)
    assert (beside.is_alive(), may_end(tmp_path, "fault-1")) == (True, True)

    one.reach(RELEASE, BEFORE, "stopped")
    beside.join(PASSED_WITHIN_S / 2)
    assert not beside.is_alive()


def test_request_waits_for_the_next_holder(tmp_path):
    """With ``awaits_grant``, a request waits until another request of any replica reads; an earlier read does not count."""
    prepare(tmp_path, "fault-1", failpoint="release.before", action="wait", awaits_grant=True)
    one, other = Failpoints(tmp_path, "replica-1"), Failpoints(tmp_path, "replica-2")
    other.reach(READ, BEFORE, "early")
    waiting = threading.Thread(target=one.reach, args=(RELEASE, BEFORE, "r1"))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()

    other.reach(READ, BEFORE, "next")
    waiting.join(1)
    assert not waiting.is_alive()


@every(
    "meanings, told_no",
    [
        (["REFUSED"], True),
        (["NOTHING", "REFUSED", "REFUSED"], True),
        (["REFUSED", "AGREED"], False),
        (["REFUSED", "LOOKED"], False),
        (["REFUSED", "OPEN"], False),
        (["OPEN"], False),
        (["NOTHING"], False),
        ([], False),
    ],
)
def test_told_no(meanings, told_no):
    """A request was refused only if the store refused a command, and no other answer can have been a yes."""
    one = RequestContext()
    one.enter(ACQUIRE)
    for meaning in meanings:
        one.answered("COMMAND", None, Meaning[meaning])

    assert one.sent.told_no is told_no
    one.enter(READ)
    assert not one.sent.told_no


def send(one: RequestContext, *commands) -> list[int]:
    """Send commands: name, answer, meaning, key and perhaps server. Return when each was sent, in nanoseconds."""
    one.enter(ACQUIRE)
    times = []
    for name, answer, meaning, key, *server in commands:
        one.sending(name)
        times.append(one.sent.at_ns)
        one.answered(name, answer, meaning, (key,), server=server[0] if server else 0)
    return times


@pytest.mark.parametrize(
    ("servers", "first"),
    [
        ([1], None),  # one command: no other was sent before it
        ([1, 2, 3], 0),
        ([1, 2], 0),  # a server does not answer
        ([1, 2, 3, 1, 2, 3, 1, 2, 3], 6),  # a try, its release, and a second try
        ([1, 2, 3, 1, 2, 3], 3),  # two tries, and no release between them
        ([1, 2, 3, 1], None),
    ],
)
def test_the_first_vote(servers, first):
    """A try asks each of several servers once, and the lease counts from the first command of the last try."""
    one = RequestContext("r1")
    sent_ns = send(one, *(("EVAL", 1, Meaning.OPEN, "lock", server) for server in servers))

    assert one.sent.leased_ns("lock") == (0 if first is None else sent_ns[first])


def test_the_command_that_begins_a_lease():
    """A lease counts from the last command that may have set its key; a refusal, a read and another key do not begin it."""
    one = RequestContext()
    about_lock = (Meaning.AGREED, Meaning.OPEN, Meaning.REFUSED, Meaning.LOOKED)  # the second sets its TTL
    sent_ns = send(one, *(("SET", None, meaning, "lock") for meaning in about_lock), ("SET", None, Meaning.OPEN, "fences"))

    assert sent_ns[0] < one.sent.leased_ns("lock") == sent_ns[1] < one.sent.at_ns
    assert one.sent.leased_ns("fences") == 0  # 0: it was the last command


def test_failed_renewal(tmp_path, monkeypatch):
    """A renewal fails once, before it is sent, with the error of the store's own library; the next one is sent."""
    prepare(tmp_path, "fail_renewal-1", failpoint="renew.before", action="fail", skip=1)
    failpoints = Failpoints(tmp_path, "replica-1")
    monkeypatch.setattr(RequestContext, "failpoints", failpoints)
    renewing, holder = RequestContext(), RequestContext("r1")
    renewing.sending(error=ConnectionError)  # no request has the lock yet

    holder.enter(READ)
    with pytest.raises(ConnectionError, match="fail_renewal-1 was injected"):
        renewing.sending(error=ConnectionError)
    renewing.sending(error=ConnectionError)


@every("refusal, grant", [(1800, None), (-1800, 1), (1, 0), ("held by r1", None), ([0, 1800], [1, 0]), (0, -1)])
def test_yes_of_a_script_is_learned(tmp_path, monkeypatch, refusal, grant):
    """Only the answers of a script after which a request began its work count as a yes of that script."""
    failpoints = Spy(tmp_path)
    monkeypatch.setattr(RequestContext, "failpoints", failpoints)

    def acquire() -> list[int]:
        """Ask three times. Return how often the failpoint was reached, after each answer."""
        one = RequestContext("r1")
        one.enter(ACQUIRE)
        reached = []
        for answer in (refusal, refusal, grant):
            one.answered("EVALSHA", answer, script="the hash")
            reached.append(failpoints.reached.count("acquire.after_first"))
        one.enter(READ)
        one.enter(RENEW)
        failpoints.reached.clear()
        return reached

    acquire()

    assert acquire() == [0, 0, 1]


@every(
    "granted, keys, expected",
    [
        ("lock", ("lock",), True),
        ("lock", ("lock:tries",), False),
        ("lock", ("lock:tries", "lock"), True),  # a script about both
        ("lock", (), True),
        ("lock", NO_KEY, False),  # an EXEC without commands
        ("a name that the store does not know", ("lock:tries",), True),
    ],
)
def test_commands_of_the_lock(tmp_path, monkeypatch, granted, keys, expected):
    """Once an acquire used the key of its grant, a command with other keys alone does not belong to the lock."""
    monkeypatch.setattr(RequestContext, "failpoints", failpoints := Failpoints(tmp_path, "replica-1"))
    one = RequestContext("r1")
    send(one, ("SET", True, Meaning.AGREED, "lock"), ("INCR", 1, Meaning.OPEN, "lock:tries"))
    one.granted(granted)

    assert failpoints.are_of_the_lock(keys) is expected


def test_after_the_second_command(tmp_path, monkeypatch):
    """The failpoint after the second command is reached once in a phase, whatever the store answers."""
    failpoints = Spy(tmp_path)
    monkeypatch.setattr(RequestContext, "failpoints", failpoints)
    one = RequestContext("r1")
    one.enter(ACQUIRE)

    reached = []
    for _ in range(3):
        one.sending("GET")
        one.answered("GET", None)
        reached.append(failpoints.reached.count("acquire.after_second"))
    one.enter(RENEW)

    assert reached == [0, 1, 1]


def test_hang_ends_without_a_write(tmp_path):
    """A request that hangs fails when the hang is over: it never continues its work."""
    prepare(tmp_path, "fault-1", failpoint="read.after", action="hang", for_ms=20)
    before_ns = monotonic_ns()

    with pytest.raises(InjectedError):
        Failpoints(tmp_path, "replica-1").reach("read", "after", "r1")

    assert monotonic_ns() - before_ns >= 20_000_000
