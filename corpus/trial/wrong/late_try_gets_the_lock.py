"""Broken: a thread tries for the request, and goes on trying when the request has given up: it gets the lock for nobody."""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        got = threading.Event()
        threading.Thread(target=self.try_until, args=(got,), daemon=True).start()
        if not got.wait(self.wait_ms / 1000):
            raise NotAcquired(self.key, self.wait_ms)

    def try_until(self, got):
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            time.sleep(self.retry_ms / 1000)
        got.set()


STAGE = replace(lua.STAGE, lock=Lock)
