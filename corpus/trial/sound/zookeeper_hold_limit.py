"""Sound: the stage zookeeper with a TTL that is not its session's: a timer of the holder deletes the holder's node."""

import contextlib
import threading
from dataclasses import replace

from app.lock import claims
from app.locks import zookeeper

SESSION_MS = 4000


class Lock(zookeeper.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, SESSION_MS, wait_ms, retry_ms)
        self.ttl_ms, self.timer = ttl_ms, None

    def acquire(self):
        super().acquire()
        self.timer = threading.Timer(self.ttl_ms / 1000, self.end)  # the TTL counts from here
        self.timer.daemon = True
        self.timer.start()

    def end(self):
        with contextlib.suppress(self.store.Error):
            self.store.delete(self.node)

    def release(self):
        if self.timer is not None:
            self.timer.cancel()
        return super().release()  # False if the timer has deleted the node


STAGE = replace(
    zookeeper.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive releases_only_its_own releases_atomically counts_once freed_after_failure freed_after_hang
    """),
)
