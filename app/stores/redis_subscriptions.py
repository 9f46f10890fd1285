"""The subscriptions of one process to Redis channels: one connection for all its threads.

A channel is subscribed while at least one thread listens to it. So no message is kept if nobody waits for it. A message wakes
one of the waiting threads, so that a release does not send all of them to the store.
When the connection breaks, it is made again, and one waiting thread is woken, because messages may have been lost meanwhile.
A waiter must always limit its wait by a time-out.

Only the listening thread makes a broken connection again. If redis-py did so for each thread, two threads would read from the new
connection, and one would wait for ever for an answer that the other has read. So the client must not repeat a command by itself.

Source: Redisson, LockPubSub and PublishSubscribe (an entry with a counter and a latch for each channel, one permit a message).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from app.request.context import for_nobody

SUBSCRIBED_WITHIN_S = 5.0
AGAIN_AFTER_S = 0.02
CLOSED = (OSError, ValueError, AttributeError, RuntimeError)  # another thread has closed the connection after a failed command


@dataclass
class RedisChannel:
    """One channel, as its waiters see it. It lives from the first waiter to the last."""

    # how many threads listen to it
    listeners: int = 0
    # one permit for each message
    messages: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    # set when the server has confirmed the subscription
    confirmed: threading.Event = field(default_factory=threading.Event)

    def wait(self, at_most_s: float) -> None:
        """Wait until a message comes, but no longer than ``at_most_s``."""
        self.messages.acquire(timeout=max(0, at_most_s))


class RedisSubscriptions:
    """The channels to which this process is subscribed."""

    def __init__(self, subscription: Callable[[], Any], error: type[Exception]) -> None:
        """subscription: makes the client's subscription. error: the type of its errors."""
        self._make = subscription
        self._error = error
        self._subscription: Any = None
        self._channels: dict[str, RedisChannel] = {}
        # held while the client's subscription changes: while a command is sent, and while a confirmation is handled
        self._mutex = threading.Lock()

    @contextmanager
    def channel(self, name: str) -> Iterator[RedisChannel]:
        """Subscribe for the duration of the block. It begins once the server has confirmed, so no later message is missed."""
        with self._mutex:
            channel = self._channels.get(name) or self._subscribe(name)
            channel.listeners += 1
        try:
            channel.confirmed.wait(SUBSCRIBED_WITHIN_S)
            yield channel
        finally:
            with self._mutex:
                channel.listeners -= 1
                if not channel.listeners:
                    self._unsubscribe(name)

    def _subscribe(self, name: str) -> RedisChannel:
        if self._subscription is None:
            self._connect(name)
        else:
            self._subscription.subscribe(name)
        self._channels[name] = RedisChannel()
        return self._channels[name]

    def _unsubscribe(self, name: str) -> None:
        """Leave a channel. Without a connection, or if it breaks, there is nothing to leave."""
        del self._channels[name]
        if self._subscription is not None:
            with suppress(self._error):
                self._subscription.unsubscribe(name)

    def _connect(self, *names: str) -> None:
        """Make a connection, subscribe it to these channels, and let a thread listen to it."""
        subscription = self._make()
        for name in names:
            subscription.subscribe(name)
        self._subscription = subscription
        with for_nobody():
            threading.Thread(target=self._listen, args=(subscription,), name="subscriptions", daemon=True).start()

    def _listen(self, subscription: Any) -> None:
        """Handle messages until the connection breaks. Then connect again, as long as a thread listens to a channel.

        ``get_message`` waits and handles in one call, so the mutex could not be held for the handling alone; without the mutex, a
        subscription that another thread makes during the handling of an unsubscribe can be lost.
        """
        while True:
            try:
                response = subscription.parse_response()
            except (self._error, *CLOSED):
                break
            with self._mutex:
                self._take(subscription.handle_message(response))
        with self._mutex:
            self._subscription = None
        subscription.close()
        while self._is_missing():
            threading.Event().wait(AGAIN_AFTER_S)

    def _is_missing(self) -> bool:
        """Connect again if a thread listens and there is no connection. Return whether there is still none."""
        with self._mutex:
            if self._subscription is None and self._channels:
                with suppress(self._error):
                    self._connect(*self._channels)
            return self._subscription is None and bool(self._channels)

    def _take(self, message: Any) -> None:
        channel = self._channels.get(message["channel"]) if message else None
        if channel is None:  # the last listener has left
            return
        if message["type"] == "message" or (message["type"] == "subscribe" and channel.confirmed.is_set()):
            channel.messages.release()  # also at a new confirmation: messages may have been lost before it
        elif message["type"] == "subscribe":
            channel.confirmed.set()
