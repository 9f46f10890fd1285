"""Broken: answers at once with a value that it expects, and does the work afterwards in a thread of its own."""

import threading
from dataclasses import replace

from app.lock import Grant
from app.locks import lua
from app.resource import Write


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        threading.Thread(target=self.finish, args=[work]).start()
        return Write(value=1, overwrote=0)

    def finish(self, work):
        work(Grant(self.key))
        self.release()


STAGE = replace(lua.STAGE, lock=Lock)
