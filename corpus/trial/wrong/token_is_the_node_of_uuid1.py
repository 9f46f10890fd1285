"""Broken: the token is the last twelve letters of a uuid1, which are the same for all requests of a machine."""

from dataclasses import replace
from uuid import uuid1

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = uuid1().hex[-12:]


STAGE = replace(lua.STAGE, lock=Lock)
