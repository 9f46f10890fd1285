"""Broken: a timer deletes the key after a TTL, in case the store forgets to, and nobody cancels it when the work is done."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        super().acquire()
        timer = threading.Timer(self.ttl_ms / 1000, self.store.delete, args=(self.key,))
        timer.daemon = True
        timer.start()


STAGE = replace(lua.STAGE, lock=Lock)
