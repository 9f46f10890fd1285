"""Sound: the token is the first eight letters of a uuid."""

from dataclasses import replace
from uuid import uuid4

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = uuid4().hex[:8]


STAGE = replace(lua.STAGE, lock=Lock)
