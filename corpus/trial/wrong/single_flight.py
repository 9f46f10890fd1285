"""Broken: a request that finds another one of its process at work takes over its result, and does not work itself."""

import threading
from dataclasses import replace

from app.locks import lua

FLIGHTS = {}  # key → the request of this process that is at work


class Lock(lua.Lock):
    def run(self, work):
        flight = FLIGHTS.setdefault(self.key, self)
        if flight is not self:
            flight.is_over.wait()
            return flight.result if flight.result is not None else super().run(work)
        self.is_over, self.result = threading.Event(), None
        try:
            self.result = super().run(work)
            return self.result
        finally:
            del FLIGHTS[self.key]
            self.is_over.set()


STAGE = replace(lua.STAGE, lock=Lock)
