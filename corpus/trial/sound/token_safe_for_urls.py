"""Sound: the token is a slice of secrets.token_urlsafe."""

import secrets
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = secrets.token_urlsafe(16)[4:16]


STAGE = replace(lua.STAGE, lock=Lock)
