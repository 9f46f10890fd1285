"""Sound: a thread of its own acquires, and the request meets it at a barrier."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        self.error = None
        barrier = threading.Barrier(2)
        threading.Thread(target=self.acquire_and_meet, args=(barrier,)).start()
        barrier.wait()
        if self.error:
            raise self.error

    def acquire_and_meet(self, barrier):
        try:
            super().acquire()
        except Exception as error:  # noqa: BLE001 - the request raises it
            self.error = error
        barrier.wait()


STAGE = replace(lua.STAGE, lock=Lock)
