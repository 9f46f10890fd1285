"""Broken: the release compares the name of the lock, which is the same for all owners, and not the token."""

from dataclasses import replace

from app.locks import lua

RELEASE = """
if string.sub(redis.call('get', KEYS[1]) or '', 1, #KEYS[1]) == KEYS[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.token = f"{key}:{self.token}"
        self.release_script = store.register_script(RELEASE)


STAGE = replace(lua.STAGE, lock=Lock)
