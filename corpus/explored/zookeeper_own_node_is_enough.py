"""Broken: creates its node in the queue, and takes that for the lock."""

from dataclasses import replace

from app.locks import zookeeper


class Lock(zookeeper.Lock):
    def acquire(self):
        self.enter()


STAGE = replace(zookeeper.STAGE, lock=Lock)
