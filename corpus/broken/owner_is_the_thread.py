"""Broken: the owner is the name of a thread, and threads of several replicas have the same names."""

import threading
from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.owner = threading.current_thread().name


STAGE = replace(reentrant.STAGE, lock=Lock)
