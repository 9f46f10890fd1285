"""Sound: a waiter learns of releases from a thread that redis-py runs for its subscription."""

import threading
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
        freed = threading.Event()
        subscription = self.store.pubsub()
        subscription.subscribe(**{f"{self.key}:free": lambda message: freed.set()})
        thread = subscription.run_in_thread(sleep_time=0.05, daemon=True)
        try:
            while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
                if time.monotonic() > deadline_s:
                    raise NotAcquired(self.key, self.wait_ms)
                freed.wait(0.1)
                freed.clear()
        finally:
            thread.stop()  # it closes the subscription

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
