"""Sound: acquires and releases by FCALL, two functions of a library that each process loads."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

LIBRARY = """#!lua name=trial
redis.register_function('trial_acquire', function(keys, args)
    return redis.call('set', keys[1], args[1], 'NX', 'PX', args[2]) and 1 or 0
end)
redis.register_function('trial_release', function(keys, args)
    return redis.call('get', keys[1]) == args[1] and redis.call('del', keys[1]) or 0
end)
"""
LOADED = []


class Lock(lua.Lock):
    def acquire(self):
        if not LOADED:
            LOADED.append(self.store.function_load(LIBRARY, replace=True))
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.fcall("trial_acquire", 1, self.key, self.token, self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.fcall("trial_release", 1, self.key, self.token)


STAGE = replace(lua.STAGE, lock=Lock)
