"""Test a schedule on real replicas: the waiting threads, the events, and how commands and replies are compared."""

import contextlib
import subprocess
import threading
from types import SimpleNamespace

import pytest

from app.request import steps
from app.request.steps import COMMAND, GO, LOSE_REPLY, REPLY, Steps
from lab.explore.enact.controller import Controller
from lab.explore.enact.enactment import Enactment
from lab.explore.enact.faults import Injected
from lab.explore.enact.names import Names
from lab.explore.search.event import parse
from lab.explore.search.replay import Walk
from lab.explore.store.resp import Failure

WITHIN_S = 5.0


@pytest.fixture
def controller():
    """Yield a controller for the threads of this process."""
    made = Controller()
    steps.begin(made.address, "replica-1")
    yield made
    Steps.address = None
    made.close()


def in_thread(*words):
    """Start a thread that waits at a command, and reports a reply when it may go on. Return the thread, and its orders."""
    orders: list[str] = []

    def run():
        mine = Steps()
        orders.append(mine.wait(COMMAND, words=words))
        mine.report(REPLY, reply="OK")
        with contextlib.suppress(OSError, AttributeError):  # the controller has ended, or the thread has none
            mine.file.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, orders


def test_held_until_ordered(controller):
    """A thread waits at its command until the controller orders it to go on, and then reports its reply."""
    thread, orders = in_thread("GET", "n")
    assert controller.wait_until(lambda: bool(controller.threads and controller.threads[0].words), WITHIN_S)
    (held,) = controller.threads
    assert (held.words, held.replica, orders) == (("GET", "n"), "replica-1", [])

    controller.order(held, LOSE_REPLY)
    assert controller.wait_until(lambda: held.replies == ["OK"], WITHIN_S)
    thread.join(WITHIN_S)
    assert orders == [LOSE_REPLY]


@pytest.mark.parametrize("ends", [Controller.free, Controller.close])
def test_let_go(controller, ends):
    """When the controller frees the threads, or ends, no thread waits, and no later one does."""
    thread, orders = in_thread("GET", "n")
    controller.wait_until(lambda: bool(controller.threads and controller.threads[0].words), WITHIN_S)
    ends(controller)
    thread.join(WITHIN_S)
    assert orders == [GO]

    later, orders = in_thread("GET", "n")
    if ends is Controller.free:
        controller.wait_until(lambda: bool(orders), WITHIN_S)
    later.join(WITHIN_S)
    assert orders == [GO]


def test_without_a_controller():
    """Without a controller's address no thread waits."""
    assert Steps().wait(COMMAND, words=["GET"]) == GO


LEASE_MS = 300


@pytest.fixture
def replica():
    """Yield a process that only waits."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_a_pause_lasts_as_long_as_in_the_explorer(replica):
    """A resumed replica was stopped for the time of the schedule, also if the events before took longer or shorter."""
    events = parse("pAt300rA")[:3]
    states = [SimpleNamespace(now_ms=now_ms, modes=["paused"]) for now_ms in (0, 0, LEASE_MS, LEASE_MS)]
    steps = zip(events, states, states[1:], strict=False)
    moves = [SimpleNamespace(event=event, before=before, state=state) for event, before, state in steps]
    injected, controller = Injected(events, ["read"] * len(events), LEASE_MS), Controller()
    enactment = Enactment(Walk(SimpleNamespace(trees=[None]), states[0], moves), controller, injected, 1.0)
    enactment.system, enactment.pids = SimpleNamespace(replicas=[SimpleNamespace(name="replica-1")]), [replica.pid]

    enactment._enact(0, moves[0])
    enactment._enact(2, moves[2])  # event 1, the end of the lease, took no time: the lease began before the pause
    controller.close()

    (record,) = injected.records.values()
    assert record.recovering_ns - record.at_ns >= LEASE_MS * 1_000_000


OWNER, OTHER = b"00000000-0000-0001-0000-000000000001", b"00000000-0000-0002-0000-000000000001"


@pytest.fixture
def names():
    return Names("lab:run:uuid:lock", "lab:run:uuid:counter")


def test_keys(names):
    """A key of the explorer, and a key that a stage derives from it, match the keys of the cluster with their longer names."""
    assert names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:lock"])
    assert names.same_command([b"GET", b"n"], ["GET", "lab:run:uuid:counter"])
    assert names.same_command([b"INCR", b"L:fence"], ["INCR", "lab:run:uuid:lock:fence"])
    assert not names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:counter"])
    assert not names.same_command([b"GET", b"L"], ["GET", "lab:run:uuid:lock", "more"])
    assert not names.same_command([b"GET", b"L"], ["DEL", "lab:run:uuid:lock"])


def test_owners(names):
    """An owner of the explorer matches one word of the cluster, always the same, and no word of another owner."""
    assert names.same_reply(OWNER, "c0ffee")
    assert names.same_reply(OWNER, "c0ffee")
    assert not names.same_reply(OWNER, "decaf")
    assert not names.same_reply(OTHER, "c0ffee")
    assert names.same_reply(OTHER, "decaf")


@pytest.mark.parametrize(
    ("token", "other", "is_token"),
    [
        (b"9a842ef7dbe64d70a696c236aad35b10", "e2317766a0224928b1c9459c1fbc5a43", True),
        (b"9a842ef7-dbe6-4d70-a696-c236aad35b10", "e2317766-a022-4928-b1c9-459c1fbc5a43", True),
        (b"9a842ef7", "e2317766", True),
        (b"mYoQzS9hQ0yVbYx7", "n0aTokenOfThis1", True),
        (b"Thread-1", "ThreadPoolExecutor-0_3", True),
        (b"acquired", "released", False),
        (b"locked", "free", False),
    ],
)
def test_tokens(names, token, other, is_token):
    """A word of random letters and digits may differ on the cluster; a word of the language may not."""
    assert names.same_command([b"SET", b"L", token], ["SET", "L", other]) == is_token


@pytest.mark.parametrize(
    ("expected", "real", "same"),
    [
        (None, None, True),
        (None, 0, False),
        (1, 1, True),
        (1, 0, False),
        (0, None, False),
        (b"OK", "OK", True),
        (b"OK", None, False),
        (b"locked", "free", False),
        (1500, 1460, True),
        (1500, 700, False),
        (-2, 1500, False),
        ((1, b"x"), [1, "x"], True),
        ((1, b"x"), [1], False),
        ((1, b"x"), None, False),
        ((b"1700000003.0", b"1700000003.0"), ["1795752857.84", "1795752858.02"], True),
        (Failure("no"), "error: no", True),
        (Failure("no"), 1, False),
    ],
)
def test_replies(expected, real, same, names):
    """A reply must be the same, but the time that a key has left may differ by the duration of the earlier events."""
    assert names.same_reply(expected, real) is same
