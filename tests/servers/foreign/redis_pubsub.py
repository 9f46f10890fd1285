"""A lock with a subscription for each waiter: it waits for the message of a release, on a connection of its own."""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('publish', KEYS[2], 'free')
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.client = store.plain()
        self.key = key
        self.channel = f"{key}:free"
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        if not self.release_script([self.key, self.channel], [self.token]):
            raise NotOwner(self.key, self.token)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        with self.client.pubsub() as subscription:
            subscription.subscribe(self.channel)
            while not self.client.set(self.key, self.token, nx=True, px=self.ttl_ms):
                left_s = deadline_s - time.monotonic()
                if left_s < 0:
                    raise NotAcquired(self.key, self.wait_ms)
                subscription.get_message(timeout=min(left_s, self.ttl_ms / 1000))


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=3000,
    gains="",
)
