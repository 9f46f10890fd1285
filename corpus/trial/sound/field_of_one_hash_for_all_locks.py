"""Sound: all locks are fields of one hash, which has the name of none of them; HSETNX decides. It has no TTL."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import Grant, NotAcquired, claims
from app.locks import setnx

HASH = "all locks"
RELEASE = "return redis.call('hget', KEYS[1], ARGV[1]) == ARGV[2] and redis.call('hdel', KEYS[1], ARGV[1]) or 0"


class Lock(setnx.Lock):
    def run(self, work):
        self.token = uuid4().hex
        self.acquire()
        try:
            return work(Grant(self.key))
        finally:
            self.store.register_script(RELEASE)([HASH], [self.key, self.token])

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.hsetnx(HASH, self.key, self.token):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=setnx.STAGE.claims | claims("releases_only_its_own releases_atomically freed_after_failure"),
)
