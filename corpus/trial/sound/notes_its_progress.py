"""Sound: the lock is a hash, and a thread of the holder notes the progress in it, which leaves the TTL as it is."""

import threading
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired
from app.locks import lua

ACQUIRE = """
if redis.call('hsetnx', KEYS[1], 'owner', ARGV[1]) == 1 then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""
NOTE = "return redis.call('hget', KEYS[1], 'owner') == ARGV[1] and redis.call('hset', KEYS[1], 'percent', ARGV[2])"
RELEASE = "return redis.call('hget', KEYS[1], 'owner') == ARGV[1] and redis.call('del', KEYS[1])"


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        over = threading.Event()
        noting = threading.Thread(target=self.note_until, args=(over,))
        noting.start()
        try:
            return work(Grant(self.key))
        finally:
            over.set()
            noting.join()
            self.release()

    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def note_until(self, over):
        percent = 0
        while not over.wait(self.ttl_ms / 6000):
            percent += 1
            self.store.register_script(NOTE)([self.key], [self.token, percent])

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
