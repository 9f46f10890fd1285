"""Slip: `if (!isLocked()) lock()`, so as not to wait.

**Idea** A request that finds the lock taken gives up. So the acquire that follows should not have to wait.
**See it**
- `lab run try_lock --stage docs/slips/looks_first.py`
- `lab explore --replay docs/slips/looks_first.py:ABAB`
- `lab explore docs/slips/looks_first.py`
"""

from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        if self.is_locked():
            raise NotAcquired(self.key, self.wait_ms)
        self.wait_ms = 60_000  # lock() waits, however little its caller wants to
        return super().run(work)

    def is_locked(self):
        return self.store.exists(self.key)


STAGE = replace(lua.STAGE, lock=Lock)
