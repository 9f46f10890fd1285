"""Broken: renews a millisecond before the TTL ends, to save commands; the command itself takes as long."""

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
        while not over.wait((self.ttl_ms - 1) / 1000):
            renew_script([self.key], [self.token, self.ttl_ms])


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=lua.STAGE.claims - claims("freed_after_hang breaks_deadlock") | claims("held_to_the_end"),
)
