"""Sound: a grant counts only when a replica of the store has it (WAIT); without such a replica the lock is given back.

It is no consensus: of several replicas, a failover may promote one that lacks the grant.
"""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua

REPLICAS = 1
WITHIN_MS = 100


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (self.store.set(self.key, self.token, nx=True, px=self.ttl_ms) and self.has_arrived()):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def has_arrived(self):
        """Return whether a replica has the lock. Give it back if none has."""
        if self.store.wait(REPLICAS, WITHIN_MS) >= REPLICAS:
            return True
        self.release()
        return False


STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims | claims("survives_failover"))
