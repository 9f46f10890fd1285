"""Wrong: servers that die while a request waits lose their vote: then the two that are left are enough for that request.

The stage ``redlock``. A request remembers how many servers answered its first round. Had a majority answered, and
are fewer than three left in a later round, then all that are left (two) must vote for it. A request that finds three servers dead
from the start refuses, as it should. Two holders by two votes exclude each other, and a TTL later they are gone.
"""

import time
from dataclasses import replace

from app.locks import redlock

MAJORITY = 3


class Lock(redlock.Lock):
    at_first = None  # how many servers answered in the first round

    def by_majority(self):
        asked_s = time.monotonic()
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        alive = sum(not isinstance(answer, Exception) for answer in answers)
        if self.at_first is None:
            self.at_first = alive
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        needed = MAJORITY if alive >= MAJORITY or self.at_first < MAJORITY else max(2, alive)
        return answers.count("OK") >= needed and self.still_mine()


STAGE = replace(redlock.STAGE, lock=Lock)
