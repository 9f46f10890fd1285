"""Sound: the token comes from random.choices."""

import random
import string
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = "".join(random.choices(string.ascii_lowercase, k=16))


STAGE = replace(lua.STAGE, lock=Lock)
