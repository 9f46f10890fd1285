"""Slip: `close()` releases the lock even if `tryLock()` has failed.

**Idea** The lock is closed at the end of its block, whether it was locked or not.
**See it**
- `lab explore docs/slips/closed_without_the_lock.py`
- `lab run rush --stage docs/slips/closed_without_the_lock.py`
"""

from dataclasses import replace

from app.locks import ttl


class Lock(ttl.Lock):
    def run(self, work):
        try:  # in Java: try (lock) { if (lock.tryLock(10)) { … } }
            if not self.store.set(self.key, "locked", nx=True, px=self.ttl_ms):
                raise ttl.NotAcquired(self.key, self.wait_ms)
            return work(ttl.Grant(self.key))
        finally:
            self.release()  # close() is a plain DEL


STAGE = replace(ttl.STAGE, lock=Lock)
