"""Sound: waiters count themselves in a key of its own, and a thread of the holder reads their number by EVAL_RO."""

import threading
from dataclasses import replace

from app.lock import Grant
from app.locks import lua

LOOK = "return {redis.call('get', KEYS[1]), redis.call('get', KEYS[2])}"


class Lock(lua.Lock):
    def acquire(self):
        self.store.incr(f"{self.key}:waiters")
        try:
            super().acquire()
        finally:
            self.store.decr(f"{self.key}:waiters")

    def run(self, work):
        self.acquire()
        over = threading.Event()
        looking = threading.Thread(target=self.look_until, args=(over,))
        looking.start()
        try:
            return work(Grant(self.key))
        finally:
            over.set()
            looking.join()
            self.release()

    def look_until(self, over):
        while not over.wait(self.ttl_ms / 6000):
            self.seen = self.store.eval_ro(LOOK, 2, self.key, f"{self.key}:waiters")


STAGE = replace(lua.STAGE, lock=Lock)
