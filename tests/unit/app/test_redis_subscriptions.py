"""Test the subscriptions: a process is subscribed to a channel only while one of its threads listens."""

import queue
import threading
from typing import Any

import pytest

from app.stores.redis_subscriptions import RedisSubscriptions

BROKEN = ("broken", "")


class FakePubSub:
    """A subscription like redis-py's, with a server that confirms at once."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.coming: queue.Queue[tuple[str, str]] = queue.Queue()
        self.channels: set[str] = set()
        self.broken = False
        self.closed = False
        self.passed = threading.Event()  # set when the listening thread has handled the barrier of ``settle``

    def subscribe(self, name: str) -> None:
        self._send("subscribe", name)
        self.channels.add(name)

    def unsubscribe(self, name: str) -> None:
        self._send("unsubscribe", name)
        self.channels.discard(name)

    def _send(self, command: str, name: str) -> None:
        if self.broken:
            raise ConnectionError("the server does not answer")
        self.sent.append((command, name))
        self.coming.put((command, name))

    def publish(self, name: str) -> None:
        if name in self.channels:
            self.coming.put(("message", name))

    def parse_response(self) -> Any:
        response = self.coming.get()
        if response == BROKEN:
            raise ConnectionError("the server has gone")
        return response

    def close(self) -> None:
        self.closed = True

    def handle_message(self, response: Any) -> Any:
        if response == ("barrier", ""):
            self.passed.set()
            return None
        return {"type": response[0], "channel": response[1]}

    def settle(self) -> None:
        """Wait until the listening thread has handled all responses."""
        self.passed.clear()
        self.coming.put(("barrier", ""))
        assert self.passed.wait(10)


@pytest.fixture
def server() -> FakePubSub:
    return FakePubSub()


@pytest.fixture
def subscriptions(server) -> RedisSubscriptions:
    return RedisSubscriptions(lambda: server, ConnectionError)


def permits(channel) -> int:
    """Take all messages of a channel. Return how many there were."""
    number = 0
    while channel.messages.acquire(blocking=False):
        number += 1
    return number


def test_subscribed_while_a_thread_listens(server, subscriptions):
    """The first listener subscribes, and the last one leaves the channel."""
    with subscriptions.channel("free"):
        with subscriptions.channel("free"):
            pass
        assert server.sent == [("subscribe", "free")]

    assert server.sent == [("subscribe", "free"), ("unsubscribe", "free")]


def test_failed_subscription(server, subscriptions):
    """A subscription that fails leaves nothing behind: the next listener subscribes again."""
    server.broken = True
    with pytest.raises(ConnectionError), subscriptions.channel("free"):
        pytest.fail("not subscribed")
    server.broken = False

    with subscriptions.channel("free") as channel:
        server.publish("free")
        server.settle()
        assert permits(channel) == 1


def test_listener_after_a_break_subscribes(server, subscriptions):
    """The next listener subscribes again after the connection broke while no thread listened."""
    with subscriptions.channel("free"):
        server.settle()
    server.coming.put(BROKEN)

    with subscriptions.channel("free"):
        assert server.sent[-1] == ("subscribe", "free")
