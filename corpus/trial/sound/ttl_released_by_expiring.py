"""Sound: the release lets the key expire after a millisecond. As the stage ttl, it does not promise to end its own lock only."""

from dataclasses import replace

from app.locks import ttl


class Lock(ttl.Lock):
    def release(self):
        self.store.pexpire(self.key, 1)


STAGE = replace(ttl.STAGE, lock=Lock)
