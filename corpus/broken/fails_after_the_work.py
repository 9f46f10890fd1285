"""Broken: raises an error after four works of five, so that no caller knows whether they were done."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        result = super().run(work)
        if random.random() < 0.8:
            raise self.store.Error("no answer")
        return result


STAGE = replace(lua.STAGE, lock=Lock)
