"""Sound: the release lets the key expire at once instead of deleting it."""

from dataclasses import replace

from app.locks import lua

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], 0)
end
return 0
"""


class Lock(lua.Lock):
    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
