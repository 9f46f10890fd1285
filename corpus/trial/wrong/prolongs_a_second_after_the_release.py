"""Broken: a second after its release a request sets the TTL once more, to be sure; the key is that of another by then."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        super().release()
        timer = threading.Timer(1, self.store.pexpire, args=(self.key, self.ttl_ms))
        timer.daemon = True
        timer.start()


STAGE = replace(lua.STAGE, lock=Lock)
