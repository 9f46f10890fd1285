"""Broken: each renewal adds a TTL to the rest of the lease, so a dead holder keeps the lock for many TTLs."""

from dataclasses import replace

from app.locks import watchdog

RENEW = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    return redis.call('pexpire', KEYS[1], redis.call('pttl', KEYS[1]) + ARGV[2])
end
return 0
"""


class Lock(watchdog.Lock):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.renew_script = self.store.register_script(RENEW)


STAGE = replace(watchdog.STAGE, lock=Lock)
