"""Broken: does the work once more if it had to wait."""

import time
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        asked_s = time.monotonic()
        self.acquire()
        result = work(Grant(self.key))
        if time.monotonic() - asked_s > 0.05:
            result = work(Grant(self.key))
        self.release()
        return result


STAGE = replace(lua.STAGE, lock=Lock)
