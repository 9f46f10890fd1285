"""Sound: the token is a number of 64 random bits."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = str(random.getrandbits(64))


STAGE = replace(lua.STAGE, lock=Lock)
