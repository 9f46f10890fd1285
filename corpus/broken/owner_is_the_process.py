"""Broken: the owner is the process, so all threads of the holder's replica enter with the holder."""

from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.owner = reentrant.CLIENT


STAGE = replace(reentrant.STAGE, lock=Lock)
