"""Sound: a chain of timers renews the lock, each a third of the TTL after the one before."""

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
        self.set_timer()
        try:
            return work(Grant(self.key))
        finally:
            self.timer.cancel()
            self.release()

    def set_timer(self):
        self.timer = threading.Timer(self.ttl_ms / 3000, self.renew)
        self.timer.daemon = True
        self.timer.start()

    def renew(self):
        try:
            is_held = self.store.register_script(RENEW)([self.key], [self.token, self.ttl_ms])
        except self.store.Error:
            is_held = True  # no answer: try again
        if is_held:
            self.set_timer()


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive acquires_atomically held_to_the_end releases_only_its_own releases_atomically
        counts_once serves_most_requests answers_a_try_at_once freed_after_crash freed_after_failure waiters_may_leave
        reenters_only_its_own
    """),
)
