"""Sound: the key in the store is "lock:" and the name of the lock; the grant says the name alone."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"lock:{key}", ttl_ms, wait_ms, retry_ms)

    def run(self, work):
        return super().run(lambda grant: work(Grant(grant.key.removeprefix("lock:"))))


STAGE = replace(lua.STAGE, lock=Lock)
