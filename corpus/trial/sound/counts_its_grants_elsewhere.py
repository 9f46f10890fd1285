"""Sound: the key in the store has a prefix, and each grant is counted in a hash of statistics, by a second command.

The stage ``lua`` on the key "lock:" + name. The grant says the name alone (as sound/key_with_another_name.py). After the
lock was got, HINCRBY adds one to the field of this name in the hash "statistics:grants". Nothing depends on that number.
"""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"lock:{key}", ttl_ms, wait_ms, retry_ms)
        self.name = key

    def run(self, work):
        self.acquire()
        try:
            self.store.hincrby("statistics:grants", self.name, 1)
            return work(Grant(self.name))
        finally:
            self.release()


STAGE = replace(lua.STAGE, lock=Lock)
