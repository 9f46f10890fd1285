"""A mutex in each server process: `threading.Lock`, the counterpart of Java's `synchronized`.

**Problem** Two requests read the same number, and one of the two increments is overwritten.
**Idea** A mutex in the memory of the process lets one thread in at a time; the other threads wait.
**Still**
- A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**See it**
- `lab run one_replica --stage local`
- `lab run rush --stage local`
- `lab diff none local`
"""

import threading

from app.lock import Grant, NotAcquired, Stage

MUTEXES: dict[str, threading.Lock] = {}


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.mutex = MUTEXES.setdefault(key, threading.Lock())

    def run(self, work):
        if not self.mutex.acquire(timeout=self.wait_ms / 1000):
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.mutex.release()


STAGE = Stage(
    lock=Lock,
    follows="none",
    gains="exclusive_in_process held_to_the_end counts_once answers_a_try_at_once",
)
