"""Sound: the release sets the key to the token of the next waiter in a list, and wakes that waiter by a list of its own."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua

ACQUIRE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('lrem', KEYS[2], 0, ARGV[1])
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
if not redis.call('lpos', KEYS[2], ARGV[1]) then
    redis.call('rpush', KEYS[2], ARGV[1])
end
return 0
"""
RELEASE = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then
    return 0
end
local next = redis.call('lpop', KEYS[2])
if not next then
    return redis.call('del', KEYS[1])
end
redis.call('set', KEYS[1], next, 'PX', ARGV[2])
redis.call('rpush', KEYS[2] .. ':' .. next, 'yours')
return redis.call('pexpire', KEYS[2] .. ':' .. next, ARGV[2])
"""
STEP_S = 0.2


class Lock(lua.Lock):
    def acquire(self):
        keys, deadline_s = [self.key, f"{self.key}:queue"], time.monotonic() + self.wait_ms / 1000
        acquire_script = self.store.register_script(ACQUIRE)
        while not acquire_script(keys, [self.token, self.ttl_ms]):
            left_s = deadline_s - time.monotonic()
            if left_s > 0:
                self.store.blpop([f"{self.key}:queue:{self.token}"], timeout=min(left_s, STEP_S))
            elif self.store.lrem(f"{self.key}:queue", 0, self.token):  # otherwise it has just been handed over
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        self.store.register_script(RELEASE)([self.key, f"{self.key}:queue"], [self.token, self.ttl_ms])


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive counts_once serves_most_requests releases_only_its_own releases_atomically
        freed_after_failure waiters_may_leave
    """),
)
