"""Sound: a decorator acquires before the work and releases after it."""

import functools
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


def locked(lock):
    def decorate(work):
        @functools.wraps(work)
        def within(*args):
            lock.acquire()
            try:
                return work(*args)
            finally:
                lock.release()

        return within

    return decorate


class Lock(lua.Lock):
    def run(self, work):
        @locked(self)
        def protected(grant):
            return work(grant)

        return protected(Grant(self.key))


STAGE = replace(lua.STAGE, lock=Lock)
