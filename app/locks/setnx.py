"""SET NX: the first to set the key has the lock, in whichever process it runs.

**Problem** Another replica has a mutex of its own and never sees this one.
**Idea** One key in a store that all replicas share: set it only if nobody has; sleep and try again; delete it when done.
**Still**
- A holder that dies never deletes the key: nobody ever enters again, and a restart does not help.
- Waiters poll: each try is a command, and a free lock stays unused until somebody's sleep ends.
- The retry is easily written wrong: without an `else`, whoever had to wait does the work once for every try.
**See it**
- `lab run rush --stage setnx`
- `lab run holder_crash --stage setnx`
- `lab diff local setnx`
"""

import time

from app.lock import Grant, NotAcquired, Stage, claims


class SetNX:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, "locked", nx=True):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.delete(self.key)


STAGE = Stage(
    lock=SetNX,
    follows="local",
    store="redis",
    claims=claims("""
        exclusive_in_process
        exclusive
        held_to_the_end
        counts_once
        answers_a_try_at_once
        survives_a_freeze
        survives_a_late_freeze
        survives_persisted_restart
        all_or_nothing
        survives_clock_jump
    """),
)
