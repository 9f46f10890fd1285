"""Sound: each command is sent by a thread of a pool, and the request waits for its future."""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

from app.locks import lua

POOL = ThreadPoolExecutor(32)


class Lock(lua.Lock):
    def acquire(self):
        future = POOL.submit(super().acquire)
        wait([future])
        future.result()

    def release(self):
        future = POOL.submit(self.release_script, [self.key], [self.token])
        wait([future])
        future.result()


STAGE = replace(lua.STAGE, lock=Lock)
