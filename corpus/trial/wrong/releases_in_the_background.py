"""Broken: a thread deletes the key after the answer, so that the answer is quick, and does not look whose it is."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        threading.Thread(target=self.store.delete, args=(self.key,)).start()


STAGE = replace(lua.STAGE, lock=Lock)
