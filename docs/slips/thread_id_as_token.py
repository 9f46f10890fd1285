"""Slip: the token is the number of the thread, which other processes have as well.

**Idea** The token is the number of the thread, as its process counts its threads. The release compares it.
**See it**
- `lab explore docs/slips/thread_id_as_token.py`
- `lab run slow_holder --stage docs/slips/thread_id_as_token.py`
"""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.token = threading.current_thread().name  # each process counts its threads from the beginning


STAGE = replace(lua.STAGE, lock=Lock)
