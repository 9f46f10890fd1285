"""Detour: in ZooKeeper, a watch on a node that may be gone.

**Problem** The watch is easily written wrong: between the look at the queue and the watch, the predecessor's node can be deleted.
**Idea** A waiter sets a watch on the node before its own, and waits for the call of the watch. It ignores the answer of
`exists`, which says whether the node is there. One of the documents prints such code.
**Source** `ZkLock` in one of the documents: `_, _, ch, err := l.conn.ExistsW(…)`, then `<-ch`.
**Still**
- If the predecessor's node is deleted just before the watch, the watch is on a node that never comes back: the waiter sleeps on.
- All requests behind that waiter wait with it.
**See it**
- `lab run release_before_watch --stage zookeeper_no_recheck`
- `lab run rush --stage zookeeper_no_recheck --requests 500`
- `lab diff zookeeper zookeeper_no_recheck`
"""

import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store.session(ttl_ms)
        self.key = key
        self.queue = f"/{key}"
        self.prefix = f"{uuid4().hex}-"  # finds this request's node again when the reply to its creation was lost
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
                if place is None:  # not in the queue yet, or no longer, because the session was lost
                    self.enter()
                    continue  # look at the place once, even if the request does not want to wait
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
        self.fence = stat.czxid  # the number of the transaction that made the node: it only grows

    def take(self, name):
        if self.node != f"{self.queue}/{name}":  # this request's node, but its name was lost with the reply
            self.node = f"{self.queue}/{name}"
            self.fence = self.store.exists(self.node).czxid

    def watch(self, name, deadline_s):
        gone = threading.Event()
        self.store.exists(f"{self.queue}/{name}", watch=lambda event: gone.set())
        gone.wait(max(0, deadline_s - time.monotonic()))

    def release(self):
        """Return whether this request's node still existed. A node left behind would block the queue while this process lives."""
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
    lock=Lock,
    follows="zookeeper",
    store="zookeeper",
    ttl_ms=10_000,
    ttl_step_ms=1000,  # kazoo waits for 0.01 to 0.4 s before a heartbeat, at random: a shorter session would end by itself
    waiters_may_sleep_on=True,
    loses="""
        acquires_atomically
        answers_a_try_at_once
        survives_clock_jump
        available_with_a_node_down
        survives_a_lost_reply
        freed_after_a_failed_release
        freed_after_a_lost_release
        waiters_may_leave
        freed_after_crash
        freed_with_a_clock_behind
        freed_after_failure
        prompt_handover
        loses_no_wakeup
        fair
        fair_in_process
    """,
)
