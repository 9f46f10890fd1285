"""Broken: the token is one digit, so one request in ten has the token of the holder."""

import secrets
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = str(secrets.randbelow(10))


STAGE = replace(lua.STAGE, lock=Lock)
