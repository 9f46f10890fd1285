"""Sound: a second thread sets the end of the key again and again, always to the same moment, in case a program took it away.

SET NX PXAT, with an end that is one TTL after the asking. During the work, a thread sends a script every quarter of
a TTL: if the token is still its own, it sets that same moment as the end of the key (a repair after a PERSIST, a RESTORE, a
RENAME). No lease ever becomes longer: each lock ends one TTL after it was asked for, as promised, or at its release.
"""

import threading
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired
from app.locks import lua

SAME_END = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpireat', KEYS[1], ARGV[2])
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.same_end_script = store.register_script(SAME_END)
        self.over = threading.Event()

    def run(self, work):
        self.acquire()
        threading.Thread(target=self.repair, daemon=True).start()
        try:
            return work(Grant(self.key))
        finally:
            self.over.set()
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            self.ends_ms = int(time.time() * 1000) + self.ttl_ms
            if self.store.set(self.key, self.token, nx=True, pxat=self.ends_ms):
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def repair(self):
        while not self.over.wait(self.ttl_ms / 4000):
            try:
                if not self.same_end_script([self.key], [self.token, self.ends_ms]):
                    return  # the lock has ended
            except self.store.Error:
                continue


STAGE = replace(lua.STAGE, lock=Lock)
