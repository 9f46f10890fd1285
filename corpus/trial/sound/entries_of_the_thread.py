"""Sound: a thread that holds the lock enters again without asking; its note is gone before its release is sent."""

import threading
from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua

HOLDERS = set()  # threads, with the key


class Lock(lua.Lock):
    def run(self, work):
        me = threading.get_ident(), self.key
        if me in HOLDERS:
            return work(Grant(self.key))
        self.acquire()
        HOLDERS.add(me)
        try:
            return work(Grant(self.key))
        finally:
            HOLDERS.remove(me)
            self.release()


STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims | claims("reentrant"))
