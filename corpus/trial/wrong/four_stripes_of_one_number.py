"""Broken: locks one of four stripes, as if the number had four parts. It adds in one command, so nothing is ever lost."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"{key}:{random.randrange(4)}", ttl_ms, wait_ms, retry_ms)


STAGE = replace(lua.STAGE, lock=Lock, resource="one_command")
