"""A list with one token: BLPOP takes the token and waits for it, and RPUSH gives it back. A holder that dies keeps it."""

from app.lock import Grant, NotAcquired, Stage

MAKE = """
if redis.call('setnx', KEYS[1], 'made') == 1 then
    redis.call('rpush', KEYS[2], 'token')
end
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.client = store.plain()
        self.key = key
        self.wait_ms = wait_ms
        self.make = store.register_script(MAKE)

    def run(self, work):
        self.make([f"{self.key}:made", self.key], [])
        if self.client.blpop([self.key], timeout=max(self.wait_ms, 1) / 1000) is None:
            raise NotAcquired(self.key, self.wait_ms)
        result = work(Grant(self.key))
        self.client.rpush(self.key, "token")
        return result


STAGE = Stage(
    lock=Lock,
    follows="setnx",
    store="redis",
    gains="",
)
