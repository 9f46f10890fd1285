"""Sound: asks the five servers one after the other, each by a client of its own."""

import time
from dataclasses import replace

from app.lock import claims
from app.locks import redlock


class Lock(redlock.Lock):
    def by_majority(self):
        asked_s = time.monotonic()
        votes = sum(self.has_vote_of(server) for server in self.store.plain())
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - redlock.DRIFT) - redlock.LEAST_DRIFT_MS) / 1000
        return votes > len(self.store.plain()) // 2 and self.still_mine()

    def has_vote_of(self, server):
        try:
            return bool(server.set(self.key, self.token, nx=True, px=self.ttl_ms))
        except self.store.Error:
            return False

    def release(self):
        for server in self.store.plain():
            try:
                server.eval(redlock.RELEASE, 1, self.key, self.token)
            except self.store.Error:
                continue


STAGE = replace(
    redlock.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive acquires_atomically releases_only_its_own releases_atomically counts_once
        freed_after_crash freed_after_failure freed_after_hang survives_a_freeze survives_a_slow_acquire
    """),
)
