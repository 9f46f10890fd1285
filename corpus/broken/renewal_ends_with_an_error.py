"""Broken: the first error of the store ends the renewing thread for good."""

from dataclasses import replace

from app.locks import watchdog
from app.locks.request_owner import request_owner


class Renewer(watchdog.Renewer):
    def renew(self, lock):
        try:
            if not lock.renew():
                self.forget(lock)
        except lock.store.Error:
            raise SystemExit from None  # ends this thread, and no other


RENEWER = Renewer()


class Lock(watchdog.Lock):
    def run(self, work):
        with request_owner(self.key) as self.owner:
            self.acquire()
            RENEWER.watch(self)
            result = work(watchdog.Grant(self.key))
            self.release()
            return result

    def release(self):
        RENEWER.forget(self)
        return super().release()


STAGE = replace(watchdog.STAGE, lock=Lock)
