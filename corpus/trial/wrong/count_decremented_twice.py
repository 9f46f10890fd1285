"""Broken: the release takes one from the count to look at it, and one more to leave, so an inner release frees the lock."""

from dataclasses import replace

from app.locks import reentrant

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 or redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    return 1
end
return 0
"""


class Lock(reentrant.Lock):
    def release(self):
        return self.store.register_script(RELEASE)([self.key], [self.owner]) is not None


STAGE = replace(reentrant.STAGE, lock=Lock)
