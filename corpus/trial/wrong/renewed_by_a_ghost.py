"""Broken: the renewal sets its own or a missing key, and once more when the work is over: then a ghost has the lock."""

import threading
from dataclasses import replace

from app.lock import Grant, claims
from app.locks import lua

RENEW = """
if (redis.call('get', KEYS[1]) or ARGV[1]) ~= ARGV[1] then
    return 0
end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        over = threading.Event()
        threading.Thread(target=self.renew_until, args=(over,), daemon=True).start()
        try:
            return work(Grant(self.key))
        finally:
            over.set()
            self.release()

    def renew_until(self, over):
        while not over.is_set():
            over.wait(self.ttl_ms / 3000)
            self.store.register_script(RENEW)([self.key], [self.token, self.ttl_ms])


STAGE = replace(
    lua.STAGE, lock=Lock, claims=lua.STAGE.claims - claims("freed_after_hang breaks_deadlock") | claims("held_to_the_end")
)
