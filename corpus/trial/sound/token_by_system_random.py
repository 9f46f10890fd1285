"""Sound: the token is a large number of random.SystemRandom and one of secrets.randbelow."""

import random
import secrets
from dataclasses import replace

from app.locks import lua

CHANCE = random.SystemRandom()


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = f"{CHANCE.randrange(10**12)}-{secrets.randbelow(10**12)}"


STAGE = replace(lua.STAGE, lock=Lock)
