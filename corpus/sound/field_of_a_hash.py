"""Sound: the lock is a field of a hash, set by HSETNX; it has no TTL and promises none."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired, claims
from app.locks import setnx

RELEASE = """
if redis.call('hget', KEYS[1], 'holder') == ARGV[1] then
    return redis.call('hdel', KEYS[1], 'holder')
end
return 0
"""


class Lock(setnx.Lock):
    def acquire(self):
        self.token = uuid4().hex
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.hsetnx(self.key, "holder", self.token):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(setnx.STAGE, lock=Lock, claims=setnx.STAGE.claims | claims("releases_only_its_own releases_atomically"))
