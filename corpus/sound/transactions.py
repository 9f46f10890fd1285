"""Sound: acquires and releases by WATCH, MULTI and EXEC in pipelines, without any script."""

import time
from dataclasses import replace

from redis.exceptions import WatchError

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        return self.if_it_is(None, lambda pipe: pipe.set(self.key, self.token, px=self.ttl_ms))

    def release(self):
        self.if_it_is(self.token, lambda pipe: pipe.delete(self.key))

    def if_it_is(self, token, change):
        """Do the change if the key has this token, and return whether it was done."""
        with self.store.pipeline() as pipe:
            pipe.watch(self.key)
            if pipe.get(self.key) != token:
                return False
            pipe.multi()
            change(pipe)
            try:
                return pipe.execute()[0]
            except WatchError:
                return False


STAGE = replace(lua.STAGE, lock=Lock)
