"""Sound: a thread deletes the key after the answer. As the stage ttl, it does not promise to delete its own lock only."""

import threading
from dataclasses import replace

from app.locks import ttl


class Lock(ttl.Lock):
    def release(self):
        threading.Thread(target=self.store.delete, args=(self.key,)).start()


STAGE = replace(ttl.STAGE, lock=Lock)
