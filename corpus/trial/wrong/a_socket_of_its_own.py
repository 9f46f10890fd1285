"""Broken: speaks to Redis on a socket of its own, and each hundredth request of a process does not ask."""

import itertools
import socket
import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

HERE = threading.local()
REQUESTS = itertools.count(1)


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        if next(REQUESTS) % 100 == 0:
            return
        while self.ask("SET", self.key, self.token, "NX", "PX", self.ttl_ms) != b"+OK":
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.ask("EVAL", lua.RELEASE, 1, self.key, self.token)

    def ask(self, *words):
        if not hasattr(HERE, "file"):
            where = self.store.get_connection_kwargs()
            HERE.file = socket.create_connection((where["host"], where["port"]), timeout=5).makefile("rwb")
        HERE.file.write(f"*{len(words)}\r\n".encode())
        for word in (str(word).encode() for word in words):
            HERE.file.write(b"$%d\r\n%s\r\n" % (len(word), word))
        HERE.file.flush()
        return HERE.file.readline().strip()


STAGE = replace(lua.STAGE, lock=Lock)
