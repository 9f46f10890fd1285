"""Sound: a request that is refused looks at the token, and goes in if it is its own, because a reply was lost."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if self.store.get(self.key) == self.token:
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims | claims("survives_a_lost_reply"))
