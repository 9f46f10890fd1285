"""An example of a lock for worker.py, with nothing but a socket: the value of the key is a token, and a release compares it.

With ``release=any``, a release deletes the key of any holder.
"""

import socket
import time
import uuid

COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


def lock(ports, release="own"):
    stream = socket.create_connection(("127.0.0.1", ports[0])).makefile("rwb", buffering=0)

    def send(*words):
        words = [str(word).encode() for word in words]
        stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        answer = stream.readline().strip()
        if answer[:1] == b"-":
            raise ConnectionError(answer.decode())
        return answer

    def acquire(key, ttl_ms, wait_ms, retry_ms):
        token, until_s = uuid.uuid4().hex, time.monotonic() + wait_ms / 1000
        while send("SET", key, token, "NX", "PX", ttl_ms) != b"+OK":
            if time.monotonic() > until_s:
                return None
            time.sleep(retry_ms / 1000)
        return key, token

    def free(held):
        key, token = held
        return send("DEL", key) == b":1" if release == "any" else send("EVAL", COMPARE, 1, key, token) == b":1"

    return acquire, free
