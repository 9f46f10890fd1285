"""Broken: timers renew the lock, the first after two thirds of the TTL, and each further one more than a TTL after the last."""

import threading
from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua

RENEW = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        self.renew_after(self.ttl_ms / 1500)
        try:
            return work(Grant(self.key))
        finally:
            self.timer.cancel()
            self.release()

    def renew_after(self, pause_s):
        self.timer = threading.Timer(pause_s, self.renew)
        self.timer.daemon = True
        self.timer.start()

    def renew(self):
        if self.store.register_script(RENEW)([self.key], [self.token, self.ttl_ms]):
            self.renew_after(self.ttl_ms * 1.1 / 1000)


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=lua.STAGE.claims - claims("freed_after_hang breaks_deadlock") | claims("held_to_the_end"),
)
