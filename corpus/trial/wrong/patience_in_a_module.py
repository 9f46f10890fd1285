"""Broken: a module of its own sleeps between two tries, and says after 100 ms that it was long enough."""

import sys
from dataclasses import replace
from pathlib import Path

from app.locks import lua

sys.path.insert(0, str(Path(__file__).parent / "next_to"))

from patience import Patience


class Lock(lua.Lock):
    def acquire(self):
        patience = Patience(most_ms=100)
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if patience.is_over():
                return
            patience.sleep(self.retry_ms)


STAGE = replace(lua.STAGE, lock=Lock)
