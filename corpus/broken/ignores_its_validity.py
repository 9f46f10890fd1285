"""Broken: enters with three votes, and writes, however much of the TTL the asking has used up."""

from dataclasses import replace

from app.locks import redlock


class Lock(redlock.Lock):
    def still_mine(self):
        return True


STAGE = replace(redlock.STAGE, lock=Lock)
