"""The subscriptions of one process to Redis channels: one connection for all its threads.

A message wakes one of the threads that wait for its channel, so that a release does not send all of them to the store. A
channel stays subscribed while the process lives. When the connection breaks, it is made again, and one waiting thread is
woken, because messages may have been lost meanwhile. A waiter must always limit its wait by a time-out.

Source: Redisson, LockPubSub (one latch a channel, one permit a message).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SUBSCRIBED_WITHIN_S = 5.0
AGAIN_AFTER_S = 0.02


@dataclass
class Channel:
    """One channel, as its waiters see it."""

    # one permit for each message
    messages: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    # set when the server has confirmed the subscription
    confirmed: threading.Event = field(default_factory=threading.Event)

    def wait(self, at_most_s: float) -> None:
        """Wait until a message comes, but no longer than ``at_most_s``."""
        self.messages.acquire(timeout=max(0, at_most_s))


class Subscriptions:
    """The channels to which this process is subscribed."""

    def __init__(self, subscription: Callable[[], Any], error: type[Exception]) -> None:
        """Take what makes the client's subscription, and the type of the errors that it raises."""
        self._make = subscription
        self._error = error
        self._subscription: Any = None
        self._channels: dict[str, Channel] = {}
        self._mutex = threading.Lock()

    def channel(self, name: str) -> Channel:
        """Subscribe to a channel, and return when the server has confirmed: no message is lost from then on."""
        with self._mutex:
            found = self._channels.get(name)
            if found is None:
                found = self._channels[name] = Channel()
                self._subscribe(name)
        found.confirmed.wait(SUBSCRIBED_WITHIN_S)
        return found

    def _subscribe(self, name: str) -> None:
        first = self._subscription is None
        if first:
            self._subscription = self._make()
        self._subscription.subscribe(name)
        if first:
            threading.Thread(target=self._listen, name="subscriptions", daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                message = self._subscription.get_message(timeout=None)
            except self._error:
                threading.Event().wait(AGAIN_AFTER_S)
                continue
            if message is None:
                continue
            channel = self._channels[message["channel"]]
            channel.confirmed.set()
            channel.messages.release()  # also at a new confirmation: messages may have been lost before it
