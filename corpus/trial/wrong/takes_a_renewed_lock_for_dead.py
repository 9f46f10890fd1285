"""Wrong: a waiter that has seen the same holder for a whole TTL takes over its lock, although the lock is renewed.

SET NX PX. A thread of the holder renews every third of the TTL, by one script that also counts the renewals in a
hash. A waiter watches the token: if it has not changed for a TTL, a script replaces it by the waiter's own. That is the leader
election of Kubernetes with one mistake: a renewal does not change what the waiter watches.
"""

import threading
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired
from app.locks import lua

RENEW = """
if redis.call('get', KEYS[2]) ~= ARGV[1] then
    return 0
end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
return redis.call('pexpire', KEYS[2], ARGV[2])
"""

TAKE_OVER = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3])
    return 1
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.renew_script = store.register_script(RENEW)
        self.take_over_script = store.register_script(TAKE_OVER)
        self.over = threading.Event()

    def run(self, work):
        self.acquire()
        threading.Thread(target=self.keep, daemon=True).start()
        try:
            return work(Grant(self.key))
        finally:
            self.over.set()
            self.release()

    def keep(self):
        while not self.over.wait(self.ttl_ms / 3000):
            try:
                if not self.renew_script([f"{self.key}:renewals", self.key], [self.token, self.ttl_ms]):
                    return
            except self.store.Error:
                continue

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        seen, since_s = None, 0.0
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            holder, now_s = self.store.get(self.key), time.monotonic()
            if holder != seen:
                seen, since_s = holder, now_s
            elif (
                holder is not None
                and now_s - since_s > self.ttl_ms / 1000
                and self.take_over_script([self.key], [seen, self.token, self.ttl_ms])
            ):
                return
            if now_s > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
