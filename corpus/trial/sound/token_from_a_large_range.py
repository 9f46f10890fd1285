"""Sound: the token is a random number from a range that is far too large to meet the same number twice."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = str(random.randint(1, 2**64))


STAGE = replace(lua.STAGE, lock=Lock)
