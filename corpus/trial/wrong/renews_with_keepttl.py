"""Broken: the renewal sets the key again with KEEPTTL, which keeps the old end instead of moving it."""

import threading
from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua

RENEW = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('set', KEYS[1], ARGV[1], 'XX', 'KEEPTTL')
    return 1
end
return 0
"""


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        over = threading.Event()
        renewing = threading.Thread(target=self.renew_until, args=(over,))
        renewing.start()
        try:
            return work(Grant(self.key))
        finally:
            over.set()
            renewing.join()
            self.release()

    def renew_until(self, over):
        renew_script = self.store.register_script(RENEW)
        while not over.wait(self.ttl_ms / 3000):
            renew_script([self.key], [self.token])


STAGE = replace(
    lua.STAGE, lock=Lock, claims=lua.STAGE.claims - claims("freed_after_hang breaks_deadlock") | claims("held_to_the_end")
)
