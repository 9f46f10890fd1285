"""etcd: a queue of keys, each attached to its own lease, which must be renewed.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** Each request gets a lease and creates a key attached to it, in a transaction that succeeds only if the key does not
exist. The key with the lowest create revision has the lock. Every other request watches the key before its own. The renewing
thread of `watchdog` keeps the leases alive, every TTL/3. The release revokes the lease, and etcd deletes the key with it.
**Source** etcd, client/v3/concurrency, Mutex.
**Still**
- A process that is stopped renews no lease: its lease ends, and when it resumes, it works on without the lock.
- A thread that hangs in a living process keeps its lock: its lease is renewed.
- A lease is counted in whole seconds, and its end is noticed up to half a second late.
- A holder that acquires its own lock again waits for itself.
- Lease, key and release are three writes, and each is on the disks of a majority before it is answered.
**See it**
- `lab run rush --stage etcd`
- `lab run work_outlasts_ttl --stage etcd`
- `lab run frozen_holder --stage etcd`
- `lab diff zookeeper etcd`
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims
from app.locks.watchdog import RENEWER


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.queue = f"{key}/"
        self.owner = f"{key}/{uuid4().hex}"  # the key of this request in the queue
        self.ttl_s = -(-ttl_ms // 1000)  # whole seconds, rounded up
        self.ttl_ms = self.ttl_s * 1000
        self.lease = None
        self.wait_ms = wait_ms

    def run(self, work):
        try:
            fence = self.acquire()
            result = work(Grant(self.key, fence))
        finally:
            was_there = self.release()
        if not was_there:
            raise NotOwner(self.key, self.owner)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        revision = self.enter()
        while True:
            last = self.store.last_two(self.queue, revision)
            if not last or last[0].key != self.owner:  # the lease ended while this request waited
                self.release()
                revision = self.enter()
            elif len(last) == 1:
                return revision
            else:
                left_s = max(0.001, deadline_s - time.monotonic())
                self.store.wait_until_deleted(last[1].key, last[1].seen + 1, left_s)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def enter(self):
        self.lease = self.store.grant(self.ttl_s)
        RENEWER.watch(self)
        return self.store.create(self.owner, self.lease)

    def renew(self):
        return self.store.keep_alive(self.lease)

    def release(self):
        """Return whether the lease still existed. Without an answer it ends by itself: it is no longer renewed."""
        RENEWER.forget(self)
        return self.lease is not None and self.store.revoke(self.lease)


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="etcd",
    ttl_ms=30_000,
    ttl_step_ms=1000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        serves_most_requests
        survives_a_lost_reply
        survives_persisted_restart
        survives_failover
        freed_after_crash
        freed_after_failure
        prompt_handover
        fair
        answers_a_try_at_once
        survives_a_slow_acquire
        waiters_may_leave
    """),
)
