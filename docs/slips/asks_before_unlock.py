"""Slip: `if (isHeldByCurrentThread()) unlock()`, and nobody learns that the lock was lost.

**Idea** The release first asks whether the lock is still its own, so that `unlock` raises no exception.
**See it**
- `lab run work_outlasts_ttl --stage docs/slips/asks_before_unlock.py`
- `lab explore --replay docs/slips/asks_before_unlock.py:A4BpAt3000BrAA`
- `lab explore docs/slips/asks_before_unlock.py`
"""

from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def release(self):
        if self.is_held():
            return super().release()
        return True  # there is nothing to release, and nothing is reported

    def is_held(self):
        return self.store.hexists(self.key, self.owner)


STAGE = replace(reentrant.STAGE, lock=Lock)
