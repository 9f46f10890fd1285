"""Broken: uses four of the five servers, and takes half of them for a majority."""

import time
from dataclasses import replace

from app.locks import redlock

SERVERS = 4


class Lock(redlock.Lock):
    def by_majority(self):
        asked_s = time.monotonic()
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)[:SERVERS]
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        return answers.count("OK") >= SERVERS / 2 and self.still_mine()


STAGE = replace(redlock.STAGE, lock=Lock)
