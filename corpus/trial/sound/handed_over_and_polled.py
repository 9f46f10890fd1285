"""Sound: a release gives the key to the next waiter in a list, with a whole TTL, and waiters look whether it is theirs."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua

TRY = """
local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then
    return 1
end
if not holder then
    redis.call('lrem', KEYS[2], 0, ARGV[1])
    redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1
end
if not redis.call('lpos', KEYS[2], ARGV[1]) then
    redis.call('rpush', KEYS[2], ARGV[1])
end
return 0
"""
FREE = """
redis.call('lrem', KEYS[2], 0, ARGV[1])
if redis.call('get', KEYS[1]) ~= ARGV[1] then
    return 0
end
local next = redis.call('lpop', KEYS[2])
if next then
    redis.call('set', KEYS[1], next, 'PX', ARGV[2])
else
    redis.call('del', KEYS[1])
end
return 1
"""


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.ask(TRY):
            if time.monotonic() > deadline_s:
                self.ask(FREE)  # leave the list; if the key has just been handed over, hand it on
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        return self.ask(FREE)

    def ask(self, script):
        return self.store.eval(script, 2, self.key, f"{self.key}:queue", self.token, self.ttl_ms) == 1


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive releases_only_its_own releases_atomically counts_once freed_after_failure freed_after_hang
    """),
)
