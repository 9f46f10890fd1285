"""sherlock's lock on Redis, for workers/worker.py. With ``expire=none``, it has no expiry."""

import redis
from sherlock import LockTimeoutException, RedisLock


def lock(ports, expire="ttl"):
    client = redis.Redis(port=ports[0])

    def acquire(key, ttl_ms, wait_ms, retry_ms):
        times = {"timeout": wait_ms / 1000, "retry_interval": retry_ms / 1000}
        held = RedisLock(key, client=client, expire=None if expire == "none" else ttl_ms // 1000, **times)
        try:
            held.acquire()
        except LockTimeoutException:
            return None
        return held

    return acquire, RedisLock.release
