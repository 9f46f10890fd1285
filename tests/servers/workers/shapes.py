"""Locks of four shapes for worker.py, by a client that the lab does not know: ``shape`` is the option that chooses one.

blpop: a waiter blocks in the store until a release pushes to a list. subscribe: a waiter hears of releases on a channel.
fence: each grant gets a larger number. majority: three of five servers must agree.
"""

import contextlib
import random
import select
import socket
import time
import uuid

FREE = "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('del', KEYS[1]) {} return 1"
PUSH = "if redis.call('llen', KEYS[2]) == 0 then redis.call('rpush', KEYS[2], 1) redis.call('pexpire', KEYS[2], 3000) end"
PUBLISH = "redis.call('publish', KEYS[2], 1)"
FROM = 1_700_000_000_000_000_000  # as large as a time in nanoseconds
FENCED = "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end return 0"


class Connection:
    """A connection that speaks just enough of Redis' protocol."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rwb", buffering=0)

    def send(self, *words):
        words = [str(word).encode() for word in words]
        self.stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

    def read(self):
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the connection is closed")
        kind, text = line[:1], line[1:].strip()
        if kind == b"-":
            raise ConnectionError(text.decode())
        if kind == b"$":
            return None if text == b"-1" else self.stream.read(int(text) + 2)[:-2]
        if kind == b"*":
            return None if text == b"-1" else [self.read() for _ in range(int(text))]
        return int(text) if kind == b":" else text

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def hears(self, within_s):
        if select.select([self.socket], [], [], within_s)[0]:
            self.read()


class Held:
    def __init__(self, key, token, fence=None):
        self.key, self.token = key, token
        if fence is not None:
            self.fence = fence


class Lock:
    def __init__(self, ports, shape):
        self.nodes = [Connection(port) for port in ports]
        self.redis = self.nodes[0]
        self.channel = Connection(ports[0]) if shape == "subscribe" else None
        self.shape = shape

    def acquire(self, key, ttl_ms, wait_ms, retry_ms):
        token, until_s = uuid.uuid4().hex, time.monotonic() + wait_ms / 1000
        if self.channel:
            self.channel.ask("SUBSCRIBE", f"{key}:free")
        while (held := self.take(key, token, ttl_ms)) is None:
            if (left_s := until_s - time.monotonic()) <= 0:
                break
            self.wait(key, left_s, retry_ms)
        if self.channel:
            self.channel.send("UNSUBSCRIBE", f"{key}:free")
            while self.channel.read()[0] != b"unsubscribe":
                pass
        return held

    def take(self, key, token, ttl_ms):
        if self.shape == "fence":
            fence = self.redis.ask("EVAL", FENCED, 2, key, f"{key}:fence", token, ttl_ms)
            return Held(key, token, FROM + fence) if fence else None
        begun_s, votes = time.monotonic(), 0
        for node in self.nodes:
            with contextlib.suppress(OSError):
                votes += node.ask("SET", key, token, "NX", "PX", ttl_ms) == b"OK"
        if votes * 2 > len(self.nodes) and (time.monotonic() - begun_s) * 1000 < ttl_ms * 0.9:
            return Held(key, token)
        if votes:
            self.release(Held(key, token))
        return None

    def wait(self, key, left_s, retry_ms):
        if self.shape == "blpop":
            self.redis.ask("BLPOP", f"{key}:free", max(0.01, min(left_s, 0.5)))
        elif self.channel:
            self.channel.hears(min(left_s, 0.2))
        else:
            time.sleep(random.uniform(0.5, 1.5) * retry_ms / 1000)

    def release(self, held):
        freed = 0
        for node in self.nodes:
            with contextlib.suppress(OSError):
                text = FREE.format({"blpop": PUSH, "subscribe": PUBLISH}.get(self.shape, ""))
                freed += node.ask("EVAL", text, 2, held.key, f"{held.key}:free", held.token)
        return freed * 2 > len(self.nodes)


def lock(ports, shape):
    made = Lock(ports, shape)
    return made.acquire, made.release
