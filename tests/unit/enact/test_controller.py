"""The controller, and the threads of a replica that wait for it."""

from __future__ import annotations

import threading

import pytest

from app import steps
from app.steps import COMMAND, GO, LOSE_REPLY, REPLY, Steps
from lab.enact.controller import Controller

WITHIN_S = 5.0


@pytest.fixture
def controller():
    """A controller for the threads of this process."""
    made = Controller()
    steps.begin(made.address, "replica-1")
    yield made
    Steps.address = None
    made.close()


def in_thread(*words):
    """Let a thread come to a command, and report a reply when it goes on. Return the thread, and its orders."""
    orders: list[str] = []

    def run():
        mine = Steps()
        orders.append(mine.wait(COMMAND, words=words))
        mine.report(REPLY, reply="OK")
        mine.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, orders


def test_held_until_ordered(controller):
    """A thread waits at its command until it is ordered, and its reply is known then."""
    thread, orders = in_thread("GET", "n")
    assert controller.wait_until(lambda: bool(controller.threads and controller.threads[0].at), WITHIN_S)
    (held,) = controller.threads
    assert (held.words, held.replica, orders) == (("GET", "n"), "replica-1", [])

    controller.order(held, LOSE_REPLY)
    assert controller.wait_until(lambda: held.replies == ["OK"], WITHIN_S)
    thread.join(WITHIN_S)
    assert orders == [LOSE_REPLY]


@pytest.mark.parametrize("ends", [Controller.free, Controller.close])
def test_let_go(controller, ends):
    """When the controller lets all go, or ends, no thread waits any more, and none that comes later."""
    thread, orders = in_thread("GET", "n")
    controller.wait_until(lambda: bool(controller.threads and controller.threads[0].at), WITHIN_S)
    ends(controller)
    thread.join(WITHIN_S)
    assert orders == [GO]

    later, orders = in_thread("GET", "n")
    if ends is Controller.free:
        controller.wait_until(lambda: bool(orders), WITHIN_S)
    later.join(WITHIN_S)
    assert orders == [GO]


def test_without_a_controller():
    """Without an address nothing is held."""
    assert Steps().wait(COMMAND, words=["GET"]) == GO
