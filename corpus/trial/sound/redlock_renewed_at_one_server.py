"""Sound: Redlock, whose holder renews its lock at one of the five servers, and promises no longer lease for that."""

import threading
from dataclasses import replace

from app.lock import claims
from app.locks import redlock

BEAT = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"


class Lock(redlock.Lock):
    def run(self, work):
        over = threading.Event()
        beating = threading.Thread(target=self.beat, args=(over,), daemon=True)
        beating.start()
        try:
            return super().run(work)
        finally:
            over.set()
            beating.join()

    def still_mine(self):
        return True if self.is_inside else super().still_mine()

    is_inside = False

    def acquire(self):
        super().acquire()
        self.is_inside = True

    def beat(self, over):
        first = self.store.plain()[0]
        while not over.wait(self.ttl_ms / 3000):
            first.eval(BEAT, 1, self.key, self.token, self.ttl_ms)


STAGE = replace(redlock.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once freed_after_failure"))
