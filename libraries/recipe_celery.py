"""Celery's recipe for a task that runs one at a time: add a key with an expiry, and delete it unless it is too late.

**Idea** A release that may come too late is left out. The recipe is written for Django's cache; here it has a client of Redis.
"""

import time
from contextlib import contextmanager

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

COOKBOOK = "https://docs.celeryq.dev/en/v5.6.3/tutorials/task-cookbook.html#ensuring-a-task-is-only-executed-one-at-a-time"
SHARED = Quote(
    "We ensure that it's not possible for two or more workers to import the same feed at the same time by setting a cache key "
    "consisting of the MD5 check-sum of the feed URL.",
    COOKBOOK,
)
LIFE = Quote("The cache key expires after some time in case something unexpected happens, and something always will...", COOKBOOK)
MARGIN = 3 / (60 * 10)  # of the expiry: the recipe's 3 seconds of 10 minutes

LIBRARY = Library(
    package="celery",
    version="5.6.3",
    used="copied from the documentation",
    lock="memcache_lock",
    options="The margin is its share of the expiry. It does not wait: the request asks again",
    promises={"exclusive_in_process": SHARED, "exclusive": SHARED, "freed_after_crash": LIFE, "freed_after_hang": LIFE},
)


@contextmanager
def memcache_lock(client, lock_id, oid, expire_s):
    """Do the block; what it gets says whether it has the lock. As the recipe has it, with SET NX for ``cache.add``."""
    timeout_at = time.monotonic() + expire_s - expire_s * MARGIN
    status = client.set(lock_id, oid, nx=True, px=int(expire_s * 1000))
    try:
        yield status
    finally:
        if time.monotonic() < timeout_at and status:
            client.delete(lock_id)


def use(at):
    """Enter the recipe's block."""
    with memcache_lock(at.client, at.key, "the worker's name", at.ttl_s) as granted:
        if granted:
            at.work()


STAGE = LIBRARY.stage(lock=declared(use), store="redis", ttl_ms=3000)
