"""Wrong: each eighth release of a process compares the token, dawdles for longer than the TTL, and then deletes.

The stage ``uuid``: GET, compare, DEL. Between the two it sometimes dawdles for 1.1 TTLs. No scenario asks for that:
no fault, short work, a TTL of fifteen times the work. The lock ends meanwhile, X gets it, the DEL takes X's key, and C goes in
next to X and overwrites its increment.
"""

import itertools
import time
from dataclasses import replace

from app.locks import uuid

RELEASES = itertools.count(1)


class Lock(uuid.Lock):
    def release(self):
        if self.store.get(self.key) == self.token:
            if next(RELEASES) % 8 == 0:
                time.sleep(1.1 * self.ttl_ms / 1000)
            self.store.delete(self.key)


STAGE = replace(uuid.STAGE, lock=Lock)
