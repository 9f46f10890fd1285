"""A lock for worker.py whose grants have growing fences, with a client that the lab does not know."""

import random
import socket
import time
import uuid

FROM = 1_700_000_000_000_000_000  # as large as a time in nanoseconds
TAKE = "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end return 0"
FREE = "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('del', KEYS[1])"


class Held:
    def __init__(self, key, token, fence):
        self.key, self.token, self.fence = key, token, fence


class Lock:
    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb", buffering=0)

    def ask(self, script, *words):
        """Run a script, and return the whole number that it answers."""
        words = [str(word).encode() for word in ("EVAL", script, len(words) // 2, *words)]
        self.stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        line = self.stream.readline()
        if line[:1] != b":":
            raise ConnectionError(line.decode() or "the connection is closed")
        return int(line[1:])

    def acquire(self, key, ttl_ms, wait_ms, retry_ms):
        token, until_s = uuid.uuid4().hex, time.monotonic() + wait_ms / 1000
        while not (fence := self.ask(TAKE, key, f"{key}:fence", token, ttl_ms)):
            if time.monotonic() > until_s:
                return None
            time.sleep(random.uniform(0.5, 1.5) * retry_ms / 1000)
        return Held(key, token, FROM + fence)

    def release(self, held):
        return self.ask(FREE, held.key, held.token) == 1


def lock(ports):
    made = Lock(ports[0])
    return made.acquire, made.release
