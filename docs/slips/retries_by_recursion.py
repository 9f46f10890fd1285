"""Slip: the retry calls itself, and only the stack ends it.

**Idea** When the key is taken, the method sleeps and returns what it returns when it calls itself.
**See it**
- `lab run holder_crash --stage docs/slips/retries_by_recursion.py --retry-ms 1`
"""

import time
from dataclasses import replace

from app.locks import setnx_finally


class Lock(setnx_finally.Lock):
    def run(self, work):
        if self.store.set(self.key, "locked", nx=True):
            try:
                return work(setnx_finally.Grant(self.key))
            finally:
                self.release()
        else:
            time.sleep(self.retry_ms / 1000)
            return self.run(work)


STAGE = replace(setnx_finally.STAGE, lock=Lock)
