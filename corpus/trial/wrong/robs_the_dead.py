"""Broken: the key holds a process id, and each waiter that finds this process dead deletes the key, also of a new holder."""

import os
import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, os.getpid(), nx=True):
            if is_dead(self.store.get(self.key)):
                self.store.delete(self.key)
                continue
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


def is_dead(pid):
    try:
        os.kill(int(pid or os.getpid()), 0)
    except ProcessLookupError:
        return True
    return False


STAGE = replace(setnx.STAGE, lock=Lock, claims=setnx.STAGE.claims | claims("freed_after_crash"))
