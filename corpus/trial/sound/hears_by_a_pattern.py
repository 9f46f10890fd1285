"""Sound: a waiter hears of releases by PSUBSCRIBE, on a connection of its own, and then asks again."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('publish', KEYS[1] .. ':free', 'now')
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        if self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            return
        with self.store.pubsub() as subscription:
            subscription.psubscribe(f"{self.key}:*")
            while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
                if time.monotonic() > deadline_s:
                    raise NotAcquired(self.key, self.wait_ms)
                subscription.get_message(timeout=0.1)

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
