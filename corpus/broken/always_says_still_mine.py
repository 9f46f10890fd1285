"""Broken: promises to check before the write that the lock is still held, and always answers yes."""

from dataclasses import replace

from app.lock import Grant
from app.locks import watchdog_abort
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER


class Lock(watchdog_abort.Lock):
    def run(self, work):
        with request_owner(self.key) as self.owner:
            self.acquire()
            RENEWER.watch(self)
            result = work(Grant(self.key))
            self.release()
            return result


STAGE = replace(watchdog_abort.STAGE, lock=Lock)
