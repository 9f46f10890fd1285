"""Slip: the owner is the number of the thread, and a holder may enter again.

**Idea** The owner is the number of the thread, as its process counts its threads. Its owner may enter again.
**See it**
- `lab explore docs/slips/thread_id_as_owner.py`
- `lab run rush --stage docs/slips/thread_id_as_owner.py`
"""

import threading
from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.owner = threading.current_thread().name  # each process counts its threads from the beginning


STAGE = replace(reentrant.STAGE, lock=Lock)
