"""Broken: if the release got no answer, the key is deleted without a comparison, to be sure."""

import time
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        try:
            super().release()
        except self.store.Error:
            time.sleep(self.retry_ms / 1000)
            self.store.delete(self.key)


STAGE = replace(lua.STAGE, lock=Lock)
