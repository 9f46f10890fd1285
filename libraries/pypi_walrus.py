"""The lock of walrus: a script sets the key; a waiter sleeps in BLPOP until a release pushes into a list.

**Idea** No waiter asks again and again: the store wakes one of them.
"""

from functools import cache

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/coleifer/walrus/blob/0.9.8/walrus/lock.py"
SHARED = Quote("By default this method will block until the lock becomes free (either by being released or expiring).", CODE)
LIFE = Quote(
    "If the lock was initialized with a ``ttl``, then the lock will be released automatically after the given number of "
    "milliseconds.",
    CODE,
)
ATOMIC = Quote("The lock uses Lua scripts to ensure the atomicity of its operations.", CODE)

LIBRARY = Library(
    package="walrus",
    version="0.9.8",
    used="rank 10916 of PyPI's downloads",
    lock="walrus.Database.lock",
    options="ttl, in whole seconds: below one second a waiter waits for ever. It has no limit for how long it waits",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "acquires_atomically": ATOMIC,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_atomically": ATOMIC,
    },
)


@cache
def database(host, port):
    """Return the library's client for a server: one for a process, as its users have it."""
    from walrus import Database

    return Database(host=host, port=port)


def use(at):
    """Use the lock. It waits without a limit."""
    lock = database(at.host, at.port).lock(at.key, ttl=at.ttl_ms)
    if lock.acquire():
        try:
            at.work()
        finally:
            lock.release()


STAGE = LIBRARY.stage(lock=declared(use, key="lock:{key}"), store="redis", ttl_ms=3000, ttl_step_ms=1000, environment="walrus")
