"""Broken: an answer that does not come within a millisecond is taken for a yes."""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.asks():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def asks(self):
        answers = []
        asking = threading.Thread(target=lambda: answers.append(self.store.set(self.key, self.token, nx=True, px=self.ttl_ms)))
        asking.start()
        asking.join(0.001)
        return not answers or answers[0]


STAGE = replace(lua.STAGE, lock=Lock)
