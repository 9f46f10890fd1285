"""Sound: one thread of each process asks for all its requests. The script answers nil for yes, and else the TTL that is left."""

import threading
import time
from collections import deque
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return nil
end
return redis.call('pttl', KEYS[1])
"""
ORDERS = deque()
CHANGED = threading.Condition()
SERVERS = []


def serve():
    while True:
        with CHANGED:
            CHANGED.wait_for(lambda: ORDERS)
            lock, answered = ORDERS.popleft()
        try:
            lock.answer = lock.store.register_script(ACQUIRE)([lock.key], [lock.token, lock.ttl_ms])
        except lock.store.Error as error:
            lock.answer = error
        answered.set()


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.ask() is not None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def ask(self):
        answered = threading.Event()
        with CHANGED:
            if not SERVERS:
                SERVERS.append(threading.Thread(target=serve, daemon=True))
                SERVERS[0].start()
            ORDERS.append((self, answered))
            CHANGED.notify()
        answered.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


STAGE = replace(lua.STAGE, lock=Lock)
