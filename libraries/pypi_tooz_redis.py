"""The lock of tooz on Redis: redis-py's lock, which the heart of its coordinator renews.

**Idea** One interface to the locks of many stores; a member of it shows that it is alive.
"""

from app.foreign.adapter import adapted
from app.foreign.library import Library, Quote

TUTORIAL = "https://github.com/openstack/tooz/blob/9.1.0/doc/source/user/tutorial/lock.rst"
CODE = "https://github.com/openstack/tooz/blob/9.1.0/tooz/coordination.py"
ONE = Quote("a lock can only be acquired by one coordinator at a time.", TUTORIAL)

LIBRARY = Library(
    package="tooz",
    version="9.1.0",
    used="rank 10421 of PyPI's downloads",
    lock="tooz.coordination.get_coordinator('redis://…').get_lock",
    options="start_heart=True, without which nothing renews the lock; lock_timeout, in whole seconds: it takes no others",
    promises={"exclusive_in_process": Quote("This is a exclusive lock", CODE), "exclusive": ONE},
)


class OfCoordinator:
    """A lock, and the coordinator that it belongs to."""

    def __init__(self, url, name, wait, ttl=30):
        from uuid import uuid4

        from tooz.coordination import get_coordinator

        self.coordinator = get_coordinator(f"{url}?lock_timeout={ttl}", uuid4().hex.encode())
        self.name, self.wait = name.encode(), wait

    def acquire(self):
        """Start the coordinator, and acquire the lock. Return whether it was granted."""
        self.coordinator.start(start_heart=True)
        self.lock = self.coordinator.get_lock(self.name)
        granted = False
        try:
            granted = self.lock.acquire(blocking=self.wait)
        finally:
            if not granted:
                self.coordinator.stop()
        return granted

    def release(self):
        """Release the lock, and stop the coordinator. Return whether the lock was held until then."""
        try:
            return self.lock.release()
        finally:
            self.coordinator.stop()


STAGE = LIBRARY.stage(
    lock=adapted(OfCoordinator, key="_tooz_{key}_lock"), store="redis", ttl_ms=3000, ttl_step_ms=1000, environment="tooz"
)
