"""Sound: each request asks once. One that was refused may be handed the lock by a holder of its process, at most eight times."""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua

EXTEND = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""
WAITING = []  # of this process
MUTEX = threading.Lock()
MOST = 8


class Lock(lua.Lock):
    handed = 0
    was_handed = False

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            self.called = threading.Event()
            with MUTEX:
                WAITING.append(self)
            self.called.wait(self.retry_ms / 1000)
            with MUTEX:
                if self in WAITING:
                    WAITING.remove(self)
            if self.was_handed:
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        with MUTEX:
            others = [one for one in WAITING if one.key == self.key] if self.handed < MOST else []
            if others and self.store.register_script(EXTEND)([self.key], [self.token, self.ttl_ms]):
                WAITING.remove(others[0])
                others[0].token, others[0].handed, others[0].was_handed = self.token, self.handed + 1, True
                others[0].called.set()
                return
        super().release()


STAGE = replace(lua.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once"))
