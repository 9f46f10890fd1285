"""Broken: each thread locks a key of its own, as if the key were kept in a variable of the thread."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"{key}:{threading.get_ident()}", ttl_ms, wait_ms, retry_ms)


STAGE = replace(lua.STAGE, lock=Lock)
