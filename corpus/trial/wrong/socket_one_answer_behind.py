"""Broken: speaks RESP on a socket and does not read the answer to its release: the next request takes it for a grant."""

import socket
import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

HERE = threading.local()


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        self.send("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        return HERE.file.readline().strip() not in (b"$-1", b":0")

    def release(self):
        self.send("EVAL", lua.RELEASE, 1, self.key, self.token)

    def send(self, *words):
        if not hasattr(HERE, "file"):
            where = self.store.get_connection_kwargs()
            HERE.file = socket.create_connection((where["host"], where["port"]), timeout=5).makefile("rwb")
        coded = [str(word).encode() for word in words]
        HERE.file.write(b"*%d\r\n" % len(coded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in coded))
        HERE.file.flush()


STAGE = replace(lua.STAGE, lock=Lock)
