"""Slip: a helper takes the lock of its caller once more, and unlocks it twice.

**Idea** A helper locks what its caller has locked, and unlocks it in two places.
**See it**
- `lab explore docs/slips/unlocked_once_too_often.py`
- `lab run rush --stage docs/slips/unlocked_once_too_often.py`
"""

from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def run(self, work):
        return super().run(lambda grant: work(self.helper(grant)))

    def helper(self, grant):
        self.acquire()
        self.release()
        self.release()  # counts the caller's own entry down
        return grant


STAGE = replace(reentrant.STAGE, lock=Lock)
