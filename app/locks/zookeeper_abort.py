"""A holder in ZooKeeper heeds its session: in doubt it stops before it writes.

**Problem** A session can end while its process lives: the client learns of it, and the work goes on.
**Idea** The client knows the state of its session: after two thirds of the timeout without an answer it reports SUSPENDED, before
the session can end. The work asks for that state before it writes. Then it asks a server whether the node still exists, because
the client of a process that was stopped has noticed nothing yet. In doubt, the work is abandoned.
**Source** kazoo, the documentation of its Lock: heed the states SUSPENDED and LOST of the client.
**Still**
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- The check before each write costs a round trip to a server.
- A holder that acquires its own lock again waits for itself.
- A thread that hangs in a living process keeps its lock: the session belongs to the process, not to the request.
**See it**
- `lab run cut_off --stage zookeeper_abort`
- `lab run session_loss --stage zookeeper_abort`
- `lab run frozen_before_write --stage zookeeper_abort`
- `lab diff zookeeper zookeeper_abort`
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
            result = work(Grant(self.key, self.fence, still_mine=self.still_mine))
        finally:
            was_there = self.release()
        if not was_there:
            raise NotOwner(self.key, self.prefix)
        return result

    def still_mine(self):
        """Ask the client, which notices a silent server in time. Then ask a server: after a pause, the client may be wrong."""
        try:
            return self.store.connected and self.store.exists(self.node) is not None
        except self.store.Unanswered:
            return False

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
    follows="zookeeper",
    store="zookeeper",
    ttl_ms=10_000,
    ttl_step_ms=1000,  # kazoo waits for 0.01 to 0.4 s before a heartbeat, at random: a shorter session would end by itself
    gains="survives_a_freeze stops_when_lost survives_session_loss",
)
