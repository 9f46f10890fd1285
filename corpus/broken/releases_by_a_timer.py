"""Broken: a timer of 5 ms releases the lock, whether or not the work is done."""

import threading
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        timer = threading.Timer(0.005, self.release)
        timer.start()
        result = work(Grant(self.key))
        timer.join()
        return result


STAGE = replace(lua.STAGE, lock=Lock)
