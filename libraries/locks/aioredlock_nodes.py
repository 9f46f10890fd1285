"""aioredlock's lock, for workers/worker.py. Each lane has an event loop in a thread, so a watchdog goes on while others wait."""

import asyncio
import random
import threading
from contextlib import suppress

from aioredlock import Aioredlock, LockAcquiringError


def lock(ports):
    loop, managers = asyncio.new_event_loop(), []
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def wait_for(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    async def asked(key, ttl_ms):
        if not managers:
            servers = [("127.0.0.1", port) for port in ports]
            managers.append(Aioredlock(servers, internal_lock_timeout=ttl_ms / 1000))
        manager = managers[0]
        while True:  # it gives up after three tries
            with suppress(LockAcquiringError):
                return await manager.lock(key)
            await asyncio.sleep(random.uniform(manager.retry_delay_min, manager.retry_delay_max))  # noqa: S311 - as between its tries

    async def locked(key, ttl_ms, wait_ms, _):
        try:
            return await asyncio.wait_for(asked(key, ttl_ms), wait_ms / 1000)
        except TimeoutError:
            return None

    def acquire(*words):
        return wait_for(locked(*words))

    def release(held):
        wait_for(held.release())

    return acquire, release
