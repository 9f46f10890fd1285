"""Broken: watches the key and deletes it outside a transaction, so the watch guards nothing; an EXEC without commands follows."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        def free(pipe):
            if pipe.get(self.key) == self.token:
                pipe.delete(self.key)  # sent at once: there is no pipe.multi() before it

        self.store.transaction(free, self.key)


STAGE = replace(lua.STAGE, lock=Lock)
