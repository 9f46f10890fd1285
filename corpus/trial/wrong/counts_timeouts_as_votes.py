"""Broken: a server that does not answer in time counts as a vote, because it may have heard."""

import time
from dataclasses import replace

from redis.exceptions import TimeoutError as TimedOut

from app.locks import redlock


class Lock(redlock.Lock):
    def by_majority(self):
        asked_s = time.monotonic()
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        votes = sum(answer == "OK" or isinstance(answer, TimedOut) for answer in answers)
        return votes > len(answers) // 2 and self.still_mine()


STAGE = replace(redlock.STAGE, lock=Lock)
