"""Detour: a request that waits for the lock calls itself, without an `else`.

**Problem** The retry is easily written wrong: without an `else`, a request that had to wait does the work once for every try.
**Idea** When the key is taken, the method calls itself again, and forgets that it returns from that call. One of the
documents warns of this mistake.
**Still**
- When the calls return, every failed try does the work again without the lock, and deletes the key of the present holder.
**See it**
- `lab run retry_counts_twice --stage setnx_no_else`
- `lab diff setnx setnx_no_else`
"""

import time

from app.lock import Grant, NotAcquired, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.deadline_s = time.monotonic() + wait_ms / 1000

    def run(self, work):
        if not self.store.set(self.key, "locked", nx=True):
            if time.monotonic() > self.deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
            self.run(work)
        result = work(Grant(self.key))
        self.release()
        return result

    def release(self):
        self.store.delete(self.key)


STAGE = Stage(
    lock=Lock,
    follows="setnx",
    store="redis",
    loses="""
        exclusive_in_process
        exclusive
        held_to_the_end
        counts_once
        survives_a_freeze
        survives_a_late_freeze
        all_or_nothing
        answers_a_try_at_once
        survives_clock_jump
        freed_after_a_lost_release
        survives_persisted_restart
        waiters_may_leave
    """,
)
