"""The lock of redis-py 2.10.6 for a Redis without scripts, for workers/worker.py. With ``block=yes``, as ``with`` enters it."""

import redis
from redis.lock import Lock


def lock(ports, block="no"):
    client = redis.StrictRedis(port=ports[0])

    def acquire(key, ttl_ms, wait_ms, retry_ms):
        times = {"timeout": ttl_ms / 1000, "sleep": retry_ms / 1000, "blocking_timeout": wait_ms / 1000}
        held = client.lock(key, lock_class=Lock, **times)
        if block == "yes":
            return held.__enter__()
        return held if held.acquire() else None

    return acquire, Lock.release
