"""Broken: sorts the nodes of the queue by their whole names, so the random prefix decides, and not the number."""

from dataclasses import replace

from app.locks import zookeeper


class Lock(zookeeper.Lock):
    def names(self):
        return sorted(self.store.get_children(self.queue))


STAGE = replace(zookeeper.STAGE, lock=Lock)
