"""The lock of redis-py's asyncio client: the client is made by the address of the store, in an event loop of the request."""

import asyncio
from dataclasses import replace

from redis.asyncio import Redis
from redis.exceptions import LockNotOwnedError

from app.lock import Grant, NotAcquired, NotOwner
from app.locks import lua


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        where = store.get_connection_kwargs()
        self.address = {"host": where["host"], "port": where["port"]}
        self.key = key
        self.wait_ms = wait_ms
        self.times = {"timeout": ttl_ms / 1000, "sleep": retry_ms / 1000, "blocking_timeout": wait_ms / 1000}

    def run(self, work):
        return asyncio.run(self.locked(work))

    async def locked(self, work):
        async with Redis(**self.address) as client:
            lock = client.lock(self.key, **self.times)
            if not await lock.acquire():
                raise NotAcquired(self.key, self.wait_ms)
            result = work(Grant(self.key))
            try:
                await lock.release()
            except LockNotOwnedError:
                raise NotOwner(self.key, "this request") from None
            return result


STAGE = replace(lua.STAGE, lock=Lock)
