"""ZooKeeper, and the resource has the last word.

**Problem** A process that is stopped sends no heartbeats: its session ends, and it wakes up without the lock and goes on.
**Idea** The number of the transaction that made a node only grows, so every grant has one that is higher than all before it,
without a counter of one's own. It goes with the read and the write; the resource refuses what comes with an older one.
**Still**
- The resource must be able to compare and write in one step: then it could often do without the lock.
- Of two writes by one holder, what was written before it was stopped stays written.
- A holder that asks for its own lock again waits for itself.
**See it**
- `lab run session_loss --stage zookeeper_fenced`
- `lab run frozen_before_write --stage zookeeper_fenced`
- `lab diff zookeeper zookeeper_fenced`
"""

import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims


class ZooKeeperFenced:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store.session(ttl_ms)
        self.key = key
        self.queue = f"/{key}"
        self.prefix = f"{uuid4().hex}-"  # by which our node is found again when the answer to its making was lost
        self.entered = False
        self.node = None
        self.fence = 0
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        try:
            self.acquire()
            result = work(Grant(self.key, self.fence))
        finally:
            was_there = self.release()
        if not was_there:
            raise NotOwner(self.key, self.prefix)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            try:
                names = self.names() if self.entered else []
                place = self.place(names)
                if place == 0:
                    return self.take(names[0])
                if place is None:  # not in the queue yet, or no longer: the session was lost
                    self.enter()
                else:
                    self.watch(names[place - 1], deadline_s)
            except self.store.Unanswered:
                time.sleep(self.retry_ms / 1000)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def names(self):
        return sorted(self.store.get_children(self.queue), key=lambda name: name.rpartition("-")[2])

    def place(self, names):
        return next((number for number, name in enumerate(names) if name.startswith(self.prefix)), None)

    def enter(self):
        self.entered, self.node = True, None
        self.node, stat = self.store.create_ephemeral_sequential(f"{self.queue}/{self.prefix}")
        self.fence = stat.czxid  # the number of the transaction that made it: it only grows

    def take(self, name):
        if self.node != f"{self.queue}/{name}":  # found again
            self.node = f"{self.queue}/{name}"
            self.fence = self.store.exists(self.node).czxid

    def watch(self, name, deadline_s):
        gone = threading.Event()
        if self.store.exists(f"{self.queue}/{name}", watch=lambda event: gone.set()):
            gone.wait(max(0, deadline_s - time.monotonic()))

    def release(self):
        """Whether our node was still there. One left behind would lock everybody out for as long as this process lives."""
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            try:
                if not self.node:
                    names = self.names()
                    place = self.place(names)
                    return place is not None and self.store.delete(f"{self.queue}/{names[place]}")
                return self.store.delete(self.node)
            except self.store.Unanswered:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(self.retry_ms / 1000)


STAGE = Stage(
    lock=ZooKeeperFenced,
    follows="zookeeper",
    store="zookeeper",
    resource="fenced",
    ttl_ms=10_000,
    ttl_step_ms=1000,  # kazoo's heartbeats come up to 0.4 s late, on purpose: a shorter session would end by itself
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        survives_a_lost_reply
        survives_persisted_restart
        survives_failover
        freed_after_crash
        freed_after_thread_death
        prompt_handover
        fair
        answers_a_try_at_once
        survives_a_freeze
        survives_a_late_freeze
        survives_session_loss
        stops_when_lost
    """),
)
