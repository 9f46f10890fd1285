"""A lock that subscribes to a channel before it asks, on a connection of its own."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        with self.store.plain().pubsub() as subscription:
            subscription.subscribe(f"{self.key}:free")
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
