"""Sound: the token comes from secrets.token_hex."""

import secrets
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = secrets.token_hex(8)


STAGE = replace(lua.STAGE, lock=Lock)
