"""A queue of keys in etcd: the first has the lock, and keys vanish with the lease of their client.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** A replica has one session: a lease that its client keeps alive, every TTL/3. Each request creates a key attached to that
lease, and the same transaction returns the key with the lowest create revision: it has the lock. Every other request waits until
the key before its own is deleted. The release deletes the request's key.
**Source** etcd, client/v3/concurrency: Session and Mutex. There, a session has one key; here, each of its requests has a key.
**Still**
- A process that is stopped renews no lease: its session ends, and when it resumes, it works on without the lock.
- A thread that hangs in a living process keeps its lock: the session belongs to the process, not to the request.
- A lease is counted in whole seconds, and its end is noticed up to half a second late.
- A holder that acquires its own lock again waits for itself.
- The key and its deletion are two writes, and each is on the disks of a majority before it is answered.
**See it**
- `lab run rush --stage etcd`
- `lab run work_outlasts_ttl --stage etcd`
- `lab run frozen_holder --stage etcd`
- `lab diff zookeeper etcd`
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.queue = f"{key}/"
        self.owner = None  # the key of this request in the queue
        self.ttl_s = -(-ttl_ms // 1000)  # whole seconds, rounded up
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

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
        mine, first = self.enter()
        while mine != first:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            last = self.store.last_two(self.queue, mine)
            if not last or last[0].key != self.owner:  # the session ended while this request waited
                mine, first = self.enter()
            elif len(last) == 1:
                first = mine
            else:
                left_s = max(0.001, deadline_s - time.monotonic())
                self.store.wait_until_deleted(last[1].key, last[1].seen + 1, left_s)
        return mine

    def enter(self):
        """Enter the queue. Return the create revision of this request's key, and that of the first key."""
        session = self.store.session(self.ttl_s)
        self.owner = f"{self.queue}{session.lease:x}-{uuid4().hex}"
        return session.create(self.owner, self.queue) or self.enter()  # if the session has ended, the next call begins another

    def release(self):
        """Return whether this request's key still existed. A key left behind would block the queue while this process lives."""
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            try:
                return self.owner is not None and self.store.delete(self.owner)
            except self.store.Error:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(self.retry_ms / 1000)


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="etcd",
    ttl_ms=30_000,
    ttl_step_ms=1000,
    gains="""
        exclusive
        acquires_atomically
        survives_a_failed_renewal
        releases_only_its_own
        releases_atomically
        survives_a_lost_reply
        survives_persisted_restart
        survives_failover
        freed_after_crash
        freed_after_failure
        prompt_handover
        loses_no_wakeup
        fair
        fair_in_process
        survives_a_slow_acquire
        available_with_a_node_down
        refuses_without_majority
        waiters_may_leave
        freed_after_a_failed_release
        freed_after_a_lost_release
    """,
)
