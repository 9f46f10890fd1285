"""Broken: renews from the moment it asks and checks no owner, so a waiter keeps the lock of a dead holder alive."""

from dataclasses import replace

from app.lock import Grant
from app.locks import watchdog
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER

RENEW = "return redis.call('pexpire', KEYS[1], ARGV[2])"


class Lock(watchdog.Lock):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.renew_script = self.store.register_script(RENEW)

    def run(self, work):
        with request_owner(self.key) as self.owner:
            RENEWER.watch(self)
            self.acquire()
            result = work(Grant(self.key))
            self.release()
            return result


STAGE = replace(watchdog.STAGE, lock=Lock)
