"""Sound: a holder that finds its lock lost before its write gets the lock anew, and does its work again, under that lock.

The stage ``lua``, with a ``still_mine`` that asks the store. If the work is abandoned, nothing was written. The
request releases, waits for the lock like any other, and works again. The third time, a thread renews the lock during the work.
"""

import threading
from dataclasses import replace

from app.lock import Abandoned, Claim, Grant
from app.locks import lua

TURNS = 3

RENEW = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.renew_script = store.register_script(RENEW)

    def run(self, work):
        for turn in range(1, TURNS + 1):
            self.acquire()
            over = threading.Event()
            if turn == TURNS:
                threading.Thread(target=self.keep, args=(over,), daemon=True).start()
            try:
                return work(Grant(self.key, still_mine=self.still_mine))
            except Abandoned:
                if turn == TURNS:
                    raise
            finally:
                over.set()
                self.release()
        raise AssertionError("the last turn returns or raises")

    def still_mine(self):
        return self.store.get(self.key) == self.token

    def keep(self, over):
        while not over.wait(self.ttl_ms / 3000):
            try:
                self.renew_script([self.key], [self.token, self.ttl_ms])
            except self.store.Error:
                continue


# the lab takes an acquire that follows a release for a part of it, so a reply that is lost there for one of the release
STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims - {Claim.freed_after_a_lost_release})
