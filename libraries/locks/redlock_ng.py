"""redlock-ng's lock, for workers/worker.py."""

import random
import time

from redlock import Redlock, RedlockConfig


def lock(ports):
    manager = Redlock(RedlockConfig(masters=[f"redis://127.0.0.1:{port}/0" for port in ports]))

    def acquire(key, ttl_ms, wait_ms, _):
        manager.retry_count, until_s = 0, time.monotonic() + wait_ms / 1000
        while (held := manager.acquire(key, ttl_ms)) is None and time.monotonic() < until_s:
            time.sleep(random.uniform(manager.retry_delay_min, manager.retry_delay_max))  # noqa: S311 - as it does between its tries
        return held

    return acquire, manager.release
