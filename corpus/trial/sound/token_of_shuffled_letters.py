"""Sound: the token is an alphabet in a random order, by random.sample."""

import random
import string
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = "".join(random.sample(string.ascii_lowercase + string.digits, 36))


STAGE = replace(lua.STAGE, lock=Lock)
