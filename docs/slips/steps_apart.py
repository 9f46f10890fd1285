"""Slip: reading and writing are locked, each for itself.

**Idea** Each step of the work locks for itself, so that others can work between the steps.
**See it**
- `lab explore docs/slips/steps_apart.py`
- `lab explore --replay docs/slips/steps_apart.py:A3B3A3B2`
- `lab run rush --stage docs/slips/steps_apart.py`
"""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        try:
            return work(lua.Grant(self.key, still_mine=self.next_step))
        finally:
            self.release()

    def next_step(self):
        """Release between the two steps of the work, and lock again: the work calls this before it writes."""
        self.release()
        self.acquire()
        return True


STAGE = replace(lua.STAGE, lock=Lock)
