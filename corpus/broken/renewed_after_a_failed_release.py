"""Broken: renewal ends only when the store has answered the release, so a release that fails is renewed for ever."""

from dataclasses import replace

from app.locks import watchdog
from app.locks.watchdog import RENEWER


class Lock(watchdog.Lock):
    def release(self):
        left = self.release_script([self.key], [self.owner])
        RENEWER.forget(self)
        return left is not None


STAGE = replace(watchdog.STAGE, lock=Lock)
