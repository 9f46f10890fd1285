"""Sound: the lock is a hash that is never deleted; a release that failed is repeated a moment later by a thread.

One script compares the end of the lease with the server's clock, and writes owner and end into the hash. One script
compares the owner and clears it; the hash stays, because it also counts all grants. If the release cannot be sent, the request
fails with that error, and a thread tries again after 0.1 s, 0.2 s and so on, until the store has answered.
"""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6)

ACQUIRE = """
local now = redis.call('time')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local owner = redis.call('hget', KEYS[1], 'owner')
if owner and owner ~= '' and tonumber(redis.call('hget', KEYS[1], 'ends')) > now_ms then
    return 0
end
redis.call('hset', KEYS[1], 'owner', ARGV[1], 'ends', string.format('%.0f', now_ms + ARGV[2]))
redis.call('hincrby', KEYS[1], 'grants', 1)
return 1
"""

RELEASE = """
if redis.call('hget', KEYS[1], 'owner') == ARGV[1] then
    redis.call('hset', KEYS[1], 'owner', '')
    return 1
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        try:
            self.release_script([self.key], [self.token])
        except self.store.Error:
            threading.Thread(target=self.release_later, daemon=True).start()
            raise

    def release_later(self):
        for pause_s in PAUSES_S:
            time.sleep(pause_s)
            try:
                self.release_script([self.key], [self.token])
                return
            except self.store.Error:
                continue


STAGE = replace(lua.STAGE, lock=Lock)
