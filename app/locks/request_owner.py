"""The lock belongs to a request, not to a thread: a lock that a failed request leaves behind lets no other request in.

**Problem** Threads are pooled: when a release fails, the next request on that thread re-enters the lock that is left.
**Idea** The owner is a random token of the request, and not its thread. The outermost lock of a key makes the token. A lock
inside it finds the token in a context variable, and is the same owner. When the outermost lock ends, in any way, the token
goes with it. So no later request has it, and the lock that was left behind ends with its TTL.
**Source** Python, contextvars. Redisson, `lockAsync(threadId)`: its caller chooses the owner.
**Still**
- A command that is sent twice counts twice: after an acquire whose reply was lost, one release does not free the lock.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- Every entry restarts the TTL: a short inner entry can shorten the time that the outer entry relies on.
**See it**
- `lab run rush --stage request_owner`
- `lab run pooled_thread --stage request_owner`
- `lab diff reentrant request_owner`
"""

import time
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    return 1
end
return 0
"""

OWNERS: ContextVar[dict[str, str]] = ContextVar("owners")  # key → owner, of the request that this thread serves


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        with request_owner(self.key) as self.owner:
            self.acquire()
            try:
                result = work(Grant(self.key))
            finally:
                was_held = self.release()
            if not was_held:
                raise NotOwner(self.key, self.owner)
            return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        """Return whether the lock was still held."""
        return self.release_script([self.key], [self.owner]) is not None


@contextmanager
def request_owner(key):
    """Give the block its owner of a key: that of the lock around it, or a new one. Later stages import it."""
    owners = {key: uuid4().hex} | OWNERS.get({})
    before = OWNERS.set(owners)
    try:
        yield owners[key]
    finally:
        OWNERS.reset(before)


STAGE = Stage(
    lock=Lock,
    follows="reentrant",
    store="redis",
    ttl_ms=30_000,
    gains="reenters_only_its_own",
)
