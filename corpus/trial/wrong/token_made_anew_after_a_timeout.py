"""Broken: a waiter that has waited for the token for a TTL takes it for lost, goes in, and puts a second one back."""

from dataclasses import replace

from app.lock import claims
from app.locks import setnx

FILL = """
if redis.call('set', KEYS[1] .. ':filled', 'yes', 'NX') then
    redis.call('rpush', KEYS[1], 'token')
end
return 1
"""


class Lock(setnx.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.ttl_ms = ttl_ms

    def acquire(self):
        self.store.register_script(FILL)([self.key], [])
        self.store.blpop([self.key], timeout=self.ttl_ms / 1000)

    def release(self):
        self.store.rpush(self.key, "token")


STAGE = replace(
    setnx.STAGE, lock=Lock, ttl_ms=3000, claims=claims("exclusive_in_process exclusive counts_once freed_after_crash")
)
