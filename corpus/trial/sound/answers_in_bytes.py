"""Sound: a client with other options, whose answers are bytes; the release watches the key and deletes it in a transaction."""

import os
from dataclasses import replace

from redis.exceptions import WatchError

from app.lock import claims
from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, *args):
        super().__init__(store.plain(decode_responses=False), *args)
        self.token = os.urandom(16)[2:14]

    def release(self):
        with self.store.pipeline() as pipe:
            pipe.watch(self.key)
            if pipe.get(self.key) == self.token:
                pipe.multi()
                pipe.delete(self.key)
                try:
                    pipe.execute()
                except WatchError:
                    return  # it has just ended, or is another's


STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims - claims("freed_after_a_lost_release"))
