"""Broken: the token is a slice of a random number that begins behind its end, and so it is empty for all."""

import os
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = os.urandom(8).hex()[16:]


STAGE = replace(lua.STAGE, lock=Lock)
