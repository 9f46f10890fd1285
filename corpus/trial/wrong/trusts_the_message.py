"""Broken: a waiter that hears of a release goes in, and does not ask again; another request may have the lock by then."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import pubsub


class Lock(pubsub.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        if self.left_ms() is None:
            return
        with self.store.subscriptions.channel(self.channel) as messages:
            while (left_ms := self.left_ms()) is not None:
                wait_s = deadline_s - time.monotonic()
                if wait_s < 0:
                    raise NotAcquired(self.key, self.wait_ms)
                until_s = time.monotonic() + min(wait_s, max(left_ms, 1) / 1000)
                messages.wait(until_s - time.monotonic())
                if time.monotonic() < until_s:
                    return  # a message came: the lock is free


STAGE = replace(pubsub.STAGE, lock=Lock)
