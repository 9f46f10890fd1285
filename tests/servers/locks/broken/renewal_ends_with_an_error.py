"""Broken: the first error of the store ends the renewing thread for good."""

from dataclasses import replace

from app.locks import watchdog


class Renewer(watchdog.Renewer):
    def renew(self, entry):
        try:
            if not entry[0].renew():
                self.forget(entry[0])
        except entry[0].store.Error:
            raise SystemExit from None  # ends this thread, and no other


RENEWER = Renewer()


class Lock(watchdog.Lock):
    def run(self, work):
        self.acquire()
        RENEWER.watch(self)
        result = work(watchdog.Grant(self.key))
        self.release()
        return result

    def release(self):
        RENEWER.forget(self)
        super().release()


STAGE = replace(watchdog.STAGE, lock=Lock)
