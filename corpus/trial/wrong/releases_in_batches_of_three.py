"""Broken: a thread collects the tokens to be released from a queue, and sends its commands when it has three of them."""

import queue
import threading
from dataclasses import replace

from app.locks import lua

TOKENS = queue.Queue()
THREADS = []


class Lock(lua.Lock):
    def release(self):
        if not THREADS:
            THREADS.append(threading.Thread(target=self.release_for_ever, daemon=True))
            THREADS[0].start()
        TOKENS.put((self.key, self.token))

    def release_for_ever(self):
        while True:
            for key, token in [TOKENS.get() for _ in range(3)]:
                self.release_script([key], [token])


STAGE = replace(lua.STAGE, lock=Lock)
