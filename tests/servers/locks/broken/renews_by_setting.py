"""Broken: renews by setting the key, also when the lock is lost and another request holds it."""

import threading
import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired, NotOwner
from app.locks import lua, watchdog
from app.locks.watchdog import RENEWER


class Lock(watchdog.Lock):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.owner = uuid4().hex
        self.guard = threading.Lock()  # no release while a renewal is under way
        self.release_script = self.store.register_script(lua.RELEASE)

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.owner, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def renew(self):
        with self.guard:
            return self.store.set(self.key, self.owner, px=self.ttl_ms)

    def release(self):
        RENEWER.forget(self)
        with self.guard:
            if not self.release_script([self.key], [self.owner]):
                raise NotOwner(self.key, self.owner)


STAGE = replace(watchdog.STAGE, lock=Lock)
