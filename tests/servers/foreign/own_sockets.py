"""A lock with a client of its own, which speaks to Redis by plain sockets: the lab sees only its commands on a lane."""

import socket
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Client:
    """A client that connects at the first command, and again after an error."""

    def __init__(self, host, port):
        self.address, self.stream = (host, port), None

    def ask(self, *words):
        try:
            return self._ask(words)
        except OSError:
            self.close()
            raise

    def _ask(self, words):
        if self.stream is None:
            with socket.create_connection(self.address, 5) as made:
                self.stream = made.makefile("rwb")
        self.stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words))
        self.stream.flush()
        if not (line := self.stream.readline().strip()):
            raise ConnectionError("the server has closed the connection")
        return None if line == b"$-1" else line[1:].decode()

    def close(self):
        if self.stream is not None:
            self.stream.close()
            self.stream = None


class Lock(lua.Lock):
    def __init__(self, store, *words):
        super().__init__(store, *words)
        where = store.get_connection_kwargs()
        self.client = Client(where["host"], where["port"])

    def run(self, work):
        try:
            return super().run(work)
        finally:
            self.client.close()

    def acquire(self):
        until_s = time.monotonic() + self.wait_ms / 1000
        while self.client.ask("SET", self.key, self.token, "NX", "PX", str(self.ttl_ms)) is None:
            if time.monotonic() > until_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.client.ask("EVAL", lua.RELEASE, "1", self.key, self.token)


STAGE = replace(lua.STAGE, lock=Lock, by_lane=True)
