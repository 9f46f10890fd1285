"""Sound: the lock is got by SET NX PX, and its fence is drawn by a second command."""

from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, fence=self.store.incr(f"{self.key}:fence")))
        finally:
            self.release()


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    resource="fenced",
    claims=lua.STAGE.claims - claims("breaks_deadlock") | claims("survives_a_freeze survives_a_late_freeze"),
)
