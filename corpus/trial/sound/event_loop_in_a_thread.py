"""Sound: one event loop a process, in a thread of its own, asks for all requests by redis.asyncio."""

import asyncio
import threading
import time
from dataclasses import replace

from redis.asyncio import Redis

from app.lock import NotAcquired
from app.locks import lua

LOOPS = []
CLIENTS = []
STARTING = threading.Lock()


class Lock(lua.Lock):
    def in_loop(self, task):
        with STARTING:
            if not LOOPS:
                where = self.store.get_connection_kwargs()
                CLIENTS.append(Redis(host=where["host"], port=where["port"], decode_responses=True))
                LOOPS.append(asyncio.new_event_loop())
                threading.Thread(target=LOOPS[0].run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(task(CLIENTS[0]), LOOPS[0]).result()

    def acquire(self):
        if not self.in_loop(self.tries):
            raise NotAcquired(self.key, self.wait_ms)

    async def tries(self, client):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not await client.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(self.retry_ms / 1000)
        return True

    def release(self):
        self.in_loop(lambda client: client.eval(lua.RELEASE, 1, self.key, self.token))


STAGE = replace(lua.STAGE, lock=Lock)
