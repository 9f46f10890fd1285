"""Broken: locks one of two stripes of one number. The stripes share their fences, so the resource hides it by refusals."""

import random
from dataclasses import replace

from app.locks import fencing


class Lock(fencing.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms, lease_ms=None):
        super().__init__(store, f"{key}:{random.randrange(2)}", ttl_ms, wait_ms, retry_ms, lease_ms)
        self.fence_key = f"{key}:fence"


STAGE = replace(fencing.STAGE, lock=Lock)
