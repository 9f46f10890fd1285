"""Broken: a waiter subscribes after its try and waits at once, so it sleeps through a release that came in between."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import pubsub


class Lock(pubsub.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while (left_ms := self.left_ms()) is not None:
            wait_s = deadline_s - time.monotonic()
            if wait_s < 0:
                raise NotAcquired(self.key, self.wait_ms)
            with self.store.subscriptions.channel(self.channel) as messages:
                messages.wait(min(wait_s, max(left_ms, 1) / 1000))


STAGE = replace(pubsub.STAGE, lock=Lock)
