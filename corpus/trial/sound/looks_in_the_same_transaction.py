"""Sound: SET NX and GET in one transaction; the request looks only at the answer of GET."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.holder() != self.token:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def holder(self):
        with self.store.pipeline(transaction=True) as pipe:
            pipe.set(self.key, self.token, nx=True, px=self.ttl_ms)
            pipe.get(self.key)
            return pipe.execute()[1]


STAGE = replace(lua.STAGE, lock=Lock)
