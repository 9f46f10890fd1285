"""Broken: takes its lock for lost before four writes of five, although it still has it."""

import random
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, still_mine=lambda: random.random() < 0.2))
        finally:
            self.release()


STAGE = replace(lua.STAGE, lock=Lock)
