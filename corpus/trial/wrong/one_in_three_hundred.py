"""Broken: one request in three hundred, by secrets.randbelow, does not lock at all."""

import secrets
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if secrets.randbelow(300):
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
