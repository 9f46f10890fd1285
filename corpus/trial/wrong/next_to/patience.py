"""How long a waiter waits: a module next to a lock, which sleeps and keeps the time."""

import time


class Patience:
    def __init__(self, most_ms):
        self.until_s = time.monotonic() + most_ms / 1000

    def is_over(self):
        return time.monotonic() > self.until_s

    @staticmethod
    def sleep(duration_ms):
        time.sleep(duration_ms / 1000)
