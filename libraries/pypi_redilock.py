"""The lock of redilock: SET NX PX with a secret token, which a script compares at the release.

**Idea** Any program that has the token can release the lock. The token contains the name, so the name must have no colon.
"""

from app.foreign.declared import declared
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


def use(at):
    """Use the lock of a name."""
    from redilock.sync_redilock import DistributedLock

    lock = DistributedLock(at.host, at.port, ttl=at.ttl_s, interval=at.retry_s)
    token = lock.lock(at.key, block=at.wait_s or False)
    if token is not False:
        try:
            at.work()
        finally:
            if not lock.unlock(token):
                at.lost()


class Lock(declared(use)):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key.replace(":", "."), ttl_ms, wait_ms, retry_ms)


STAGE = LIBRARY.stage(lock=Lock, store="redis", ttl_ms=3000, environment="redilock")
