"""The lock of the stage lua over connections that nobody counts."""

from app.lock import Stage, claims
from app.locks import lua
from app.stores.redis_connection import uncounted


class Lock(lua.Lock):
    def __init__(self, store, *about):
        super().__init__(store.plain(redis_connect_func=uncounted), *about)


STAGE = Stage(lock=Lock, store="redis", ttl_ms=lua.STAGE.ttl_ms, claims=claims("exclusive"))
