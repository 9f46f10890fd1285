"""Sound: a pool of threads asks the five servers, each by a client of its own."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from app.lock import claims
from app.locks import redlock

POOL = ThreadPoolExecutor(160)


class Lock(redlock.Lock):
    def by_majority(self):
        asked_s = time.monotonic()
        votes = list(POOL.map(self.has_vote_of, self.store.plain()))
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        return sum(votes) > len(votes) // 2 and self.still_mine()

    def has_vote_of(self, server):
        try:
            return bool(server.set(self.key, self.token, nx=True, px=self.ttl_ms))
        except self.store.Error:
            return False

    def release(self):
        list(POOL.map(self.give_back, self.store.plain()))

    def give_back(self, server):
        try:
            server.eval(redlock.RELEASE, 1, self.key, self.token)
        except self.store.Error:
            return


STAGE = replace(
    redlock.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive acquires_atomically releases_only_its_own releases_atomically counts_once
        freed_after_crash freed_after_failure freed_after_hang survives_a_freeze survives_a_slow_acquire
    """),
)
