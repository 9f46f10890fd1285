"""Broken: each replica locks a key of its own."""

import os
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"{key}:{os.getpid()}", ttl_ms, wait_ms, retry_ms)


STAGE = replace(lua.STAGE, lock=Lock)
