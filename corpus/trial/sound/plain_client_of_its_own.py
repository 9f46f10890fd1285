"""Sound: a plain redis.Redis of its own, made from the options of the store's client, one a process."""

from dataclasses import replace

from redis import ConnectionPool, Redis

from app.locks import lua

CLIENTS = []


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        if not CLIENTS:
            kind = store.connection_pool.connection_class
            CLIENTS.append(Redis(connection_pool=ConnectionPool(kind, **store.get_connection_kwargs())))
        super().__init__(CLIENTS[0], key, ttl_ms, wait_ms, retry_ms)


STAGE = replace(lua.STAGE, lock=Lock)
