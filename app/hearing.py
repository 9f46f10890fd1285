"""What a store's channels say, heard by one connection for all threads of a process.

A message wakes one of the threads that wait for it here, so that a release does not send all of them to the store. A channel
once listened to stays so while the process lives. When the connection breaks it is made anew, and one who waits is woken,
since what was said meanwhile is lost; whoever waits must not wait for ever all the same. Source: Redisson, LockPubSub (one
latch a channel, one permit a message).
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
    """One channel. told: a permit for each message. stands: set when the server has confirmed the subscription."""

    told: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    stands: threading.Event = field(default_factory=threading.Event)

    def wait(self, at_most_s: float) -> None:
        """Until a message, or that time."""
        self.told.acquire(timeout=max(0, at_most_s))


class Hearing:
    """The channels a process listens to. subscribe: makes the client's subscription. error: what it raises."""

    def __init__(self, subscription: Callable[[], Any], error: type[Exception]) -> None:
        self._make = subscription
        self._error = error
        self._subscription: Any = None
        self._channels: dict[str, Channel] = {}
        self._mutex = threading.Lock()

    def channel(self, name: str) -> Channel:
        """Listen to it; returns when the subscription stands: whatever is said from here on is heard."""
        with self._mutex:
            found = self._channels.get(name)
            if found is None:
                found = self._channels[name] = Channel()
                self._subscribe(name)
        found.stands.wait(SUBSCRIBED_WITHIN_S)
        return found

    def _subscribe(self, name: str) -> None:
        first = self._subscription is None
        if first:
            self._subscription = self._make()
        self._subscription.subscribe(name)
        if first:
            threading.Thread(target=self._listen, name="hearing", daemon=True).start()

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
            channel.stands.set()
            channel.told.release()  # also when it is subscribed to again: something may have been said meanwhile
