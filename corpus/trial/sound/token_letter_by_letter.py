"""Sound: the token is drawn letter by letter, twenty-two of them, as redlock-py does it."""

import random
import string
from dataclasses import replace

from app.locks import lua

LETTERS = string.ascii_letters + string.digits


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = "".join(random.choice(LETTERS) for _ in range(22))


STAGE = replace(lua.STAGE, lock=Lock)
