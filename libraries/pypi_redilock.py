"""The lock of redilock: SET NX PX with a secret token, which a script compares at the release.

**Idea** Any program that has the token can release the lock. The token contains the name, so the name must have no colon.
"""

from app.foreign.adapter import adapted
from app.foreign.library import Library, Quote

README = "https://github.com/zferentz/python-redilock/blob/main/README.md"
SHARED = Quote(
    "A lock (a.k.a Mutex) is a code facility that acts as a gatekeeper and allows only one task to access a resource.", README
)
LIFE = Quote("it dictates when to auto-release the lock if your code doesnt release it (in case of a bug or a crash)", README)
OWNED = Quote("Unlocking can be performed only by the task who put the lock", README)

LIBRARY = Library(
    package="python-redilock",
    version="0.6.0",
    lock="redilock.sync_redilock.DistributedLock",
    options="a name without colons: no release finds a lock whose name has one",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


class Tokened:
    """The lock of one name, which keeps its token between acquire and release."""

    def __init__(self, host, port, name, ttl, retry):
        from redilock.sync_redilock import DistributedLock

        self.lock, self.name = DistributedLock(host, port, ttl=ttl, interval=retry), name

    def acquire(self, wait):
        """Wait for the lock. Return whether it was granted."""
        self.token = self.lock.lock(self.name, block=wait or False)
        return self.token is not False

    def release(self):
        """Release the lock. Return whether the token was its value."""
        return self.lock.unlock(self.token)


class Lock(adapted(Tokened)):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key.replace(":", "."), ttl_ms, wait_ms, retry_ms)


STAGE = LIBRARY.stage(lock=Lock, store="redis", ttl_ms=3000, environment="redilock")
