"""Sound: a thread of an executor sets the key again, with its TTL, as long as the key has the token of its holder."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua

RENEW = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('set', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2])"
POOL = ThreadPoolExecutor(64)


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        over = threading.Event()
        renewing = POOL.submit(self.renew_until, over)
        try:
            return work(Grant(self.key))
        finally:
            over.set()
            renewing.result()
            self.release()

    def renew_until(self, over):
        while not over.wait(self.ttl_ms / 3000):
            try:
                self.store.register_script(RENEW)([self.key], [self.token, self.ttl_ms])
            except self.store.Error:
                continue  # no answer: try again after the next third


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive acquires_atomically held_to_the_end releases_only_its_own releases_atomically
        counts_once serves_most_requests answers_a_try_at_once freed_after_crash freed_after_failure waiters_may_leave
    """),
)
