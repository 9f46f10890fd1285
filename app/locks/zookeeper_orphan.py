"""Detour: a node that is left behind blocks the queue.

**Problem** The node is easily left behind: after an error or a lost reply it stays in the queue, as long as the session lives.
**Idea** A request makes its node once, and deletes it once. Any error in the acquire is passed on to the caller. One of the
documents prints such code.
**Source** `ZkLock` in one of the documents: after each call `if err != nil { return err }`.
**Still**
- If the reply to the creation of a node is lost, nobody knows the node: it stays, and no request behind it gets the lock.
- After any other error in the acquire the node stays as well. It also stays if the one call of the release fails.
**See it**
- `lab run lost_reply --stage zookeeper_orphan`
- `lab run error_while_acquiring --stage zookeeper_orphan`
- `lab diff zookeeper zookeeper_orphan`
"""

import threading
import time

from app.lock import Grant, NotAcquired, NotOwner, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store.session(ttl_ms)
        self.key = key
        self.queue = f"/{key}"
        self.node = None
        self.fence = 0
        self.wait_ms = wait_ms

    def run(self, work):
        self.acquire()
        try:
            result = work(Grant(self.key, self.fence))
        finally:
            was_there = self.store.delete(self.node)
        if not was_there:
            raise NotOwner(self.key, self.node)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        self.enter()
        mine = self.node.rpartition("/")[2]
        while (names := self.names())[0] != mine:
            self.watch(names[names.index(mine) - 1], deadline_s)
            if time.monotonic() > deadline_s:
                self.store.delete(self.node)
                raise NotAcquired(self.key, self.wait_ms)

    def names(self):
        return sorted(self.store.get_children(self.queue))

    def enter(self):
        self.node, stat = self.store.create_ephemeral_sequential(f"{self.queue}/seq-")
        self.fence = stat.czxid  # the number of the transaction that made the node: it only grows

    def watch(self, name, deadline_s):
        gone = threading.Event()
        if self.store.exists(f"{self.queue}/{name}", watch=lambda event: gone.set()):
            gone.wait(max(0, deadline_s - time.monotonic()))


STAGE = Stage(
    lock=Lock,
    follows="zookeeper",
    store="zookeeper",
    ttl_ms=10_000,
    ttl_step_ms=1000,  # kazoo waits for 0.01 to 0.4 s before a heartbeat, at random: a shorter session would end by itself
    loses="""
        acquires_atomically
        available_with_a_node_down
        survives_a_lost_reply
        freed_after_a_failed_release
    """,
)
