"""Broken: the token is made of the process id and the name of the lock, so all requests of a process have the same one."""

import hashlib
import os
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = hashlib.sha256(f"{os.getpid()} {self.key}".encode()).hexdigest()


STAGE = replace(lua.STAGE, lock=Lock)
