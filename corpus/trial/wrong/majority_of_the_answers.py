"""Broken: counts a majority of the servers that answered, and not of all five."""

import time
from dataclasses import replace

from app.locks import redlock


class Lock(redlock.Lock):
    def by_majority(self):
        asked_s = time.monotonic()
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        answers = [answer for answer in answers if not isinstance(answer, Exception)]
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        return answers.count("OK") > len(answers) // 2 and self.still_mine()


STAGE = replace(redlock.STAGE, lock=Lock)
