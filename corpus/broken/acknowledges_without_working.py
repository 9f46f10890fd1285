"""Broken: one request in ten is answered without its work, with a value that is made up."""

import random
from dataclasses import replace

from app.locks import lua
from app.resource import Write


class Lock(lua.Lock):
    def run(self, work):
        if random.random() < 0.1:
            self.acquire()
            self.release()
            return Write(value=1, overwrote=0)
        return super().run(work)


STAGE = replace(lua.STAGE, lock=Lock)
