"""Broken: a function of the store releases, gets the token, and deletes the key whatever the token is."""

from dataclasses import replace

from app.locks import lua

LIBRARY = """#!lua name=trial_deletes
redis.register_function('trial_delete', function(keys, args)
    return redis.call('del', keys[1])
end)
"""
LOADED = []


class Lock(lua.Lock):
    def release(self):
        if not LOADED:
            LOADED.append(self.store.function_load(LIBRARY, replace=True))
        self.store.fcall("trial_delete", 1, self.key, self.token)


STAGE = replace(lua.STAGE, lock=Lock)
