"""A queue of nodes in ZooKeeper: the first has the lock, and nodes vanish with the session of their client.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** Each request makes an ephemeral sequential node under the key. The lowest number has the lock. Every other request
watches the node before its own, and wakes when that node is deleted. A replica has one session. A session ends when its
heartbeats stop, and its nodes are deleted with it.
**Source** ZooKeeper, "Recipes and Solutions: Locks"; Apache Curator, InterProcessMutex (the unique prefix).
**Still**
- A process that is stopped sends no heartbeats: its session ends, and when it resumes, it works on without the lock.
- A session can end while its process lives: the client learns of it, and the work goes on.
- A thread that hangs in a living process keeps its lock: the session belongs to the process, not to the request.
- The watch is easily written wrong: between the look at the queue and the watch, the predecessor's node can be deleted.
- The node is easily left behind: after an error or a lost reply it stays in the queue, as long as the session lives.
- A holder that acquires its own lock again waits for itself.
- Each step of the queue is on the disks of a majority before it is answered: the queue costs more than a key.
**See it**
- `lab run rush --stage zookeeper`
- `lab run work_outlasts_ttl --stage zookeeper`
- `lab run frozen_holder --stage zookeeper`
- `lab diff local zookeeper`
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
        if self.store.exists(f"{self.queue}/{name}", watch=lambda event: gone.set()):
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
    follows="local",
    store="zookeeper",
    ttl_ms=10_000,
    ttl_step_ms=1000,  # kazoo waits for 0.01 to 0.4 s before a heartbeat, at random: a shorter session would end by itself
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
        freed_with_a_clock_behind
        freed_after_failure
        prompt_handover
        loses_no_wakeup
        fair
        fair_in_process
        survives_a_slow_acquire
        available_with_a_node_down
        refuses_without_majority
        survives_clock_jump
        waiters_may_leave
        freed_after_a_failed_release
        freed_after_a_lost_release
    """,
)
