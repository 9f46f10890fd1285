"""Broken: begins again, lock and work, if the release finds that the lock was lost."""

from dataclasses import replace

from app.lock import NotOwner
from app.locks import reentrant


class Lock(reentrant.Lock):
    def run(self, work):
        try:
            return super().run(work)
        except NotOwner:
            return super().run(work)


STAGE = replace(reentrant.STAGE, lock=Lock)
