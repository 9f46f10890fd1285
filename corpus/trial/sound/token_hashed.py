"""Sound: the token is a slice of a hash of the process id, the time in nanoseconds and random bytes."""

import hashlib
import os
import time
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = hashlib.sha256(f"{os.getpid()} {time.time_ns()} {os.urandom(8).hex()}".encode()).hexdigest()[8:24]


STAGE = replace(lua.STAGE, lock=Lock)
