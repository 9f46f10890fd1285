"""Broken: creates its key in the queue, and takes that for the lock."""

from dataclasses import replace

from app.locks import etcd


class Lock(etcd.Lock):
    def acquire(self):
        return self.enter()[0]


STAGE = replace(etcd.STAGE, lock=Lock)
