"""Exercise 9: a sound renewal, to be broken.

**Idea** A thread of the replica renews the lock while the work goes on. `release` ends the renewal first.
**Task** Break it: exchange two lines of `release`, so that one lost reply leaves the lock held for ever.
**Check** `lab explore ./my_lock.py --lost-replies 1`
**Before** Nothing breaks.
**After** `freed_after_a_failed_release` breaks.
**Hint** What does the renewing thread do when the release raises an error?
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims
from app.locks.watchdog import RENEWER

RENEW = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        RENEWER.watch(self)
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def renew(self):
        return self.renew_script([self.key], [self.token, self.ttl_ms])

    def release(self):
        RENEWER.forget(self)
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        serves_most_requests
        freed_after_crash
        freed_after_a_failed_release
    """),
)
