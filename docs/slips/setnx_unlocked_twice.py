"""Slip: unlocks twice, and the key has no owner.

**Idea** The release is sent again, to be sure. It deletes the key each time.
**See it**
- `lab explore docs/slips/setnx_unlocked_twice.py`
- `lab run rush --stage docs/slips/setnx_unlocked_twice.py`
"""

from dataclasses import replace

from app.locks import setnx_finally


class Lock(setnx_finally.Lock):
    def release(self):
        super().release()
        super().release()


STAGE = replace(setnx_finally.STAGE, lock=Lock)
