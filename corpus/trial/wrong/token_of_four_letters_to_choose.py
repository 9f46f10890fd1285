"""Broken: the token is one of four letters, drawn by random.SystemRandom."""

import random
from dataclasses import replace

from app.locks import lua

CHANCE = random.SystemRandom()


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = CHANCE.choice("abcd")


STAGE = replace(lua.STAGE, lock=Lock)
