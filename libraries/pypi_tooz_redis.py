"""The lock of tooz on Redis: redis-py's lock, which the heart of its coordinator renews.

**Idea** One interface to the locks of many stores; a member of it shows that it is alive.
"""

from app.foreign.declared import declared
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


def use(at):
    """Use a lock, and the coordinator that it belongs to."""
    from tooz.coordination import get_coordinator

    coordinator = get_coordinator(f"redis://{at.host}:{at.port}?lock_timeout={at.ttl_s}", at.token.encode())
    coordinator.start(start_heart=True)
    try:
        lock = coordinator.get_lock(at.key.encode())
        if lock.acquire(blocking=at.wait_s):
            try:
                at.work()
            finally:
                if not lock.release():
                    at.lost()
    finally:
        coordinator.stop()


STAGE = LIBRARY.stage(
    lock=declared(use, key="_tooz_{key}_lock"), store="redis", ttl_ms=3000, ttl_step_ms=1000, environment="tooz"
)
