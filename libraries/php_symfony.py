"""The lock of Symfony in Redis: a sorted set with a token, by scripts.

**Idea** A lock is saved for 300 s first, and then gets its time to live.
"""

from app.foreign.library import Library, Quote

DOCS = "https://github.com/symfony/symfony-docs/blob/5.4/components/lock.rst"
GUARANTEED = Quote("The component guarantees that the same resource can't be locked twice", DOCS)
LIFE = Quote("released automatically after some amount of time has passed (called TTL for *Time To Live*)", DOCS)

LIBRARY = Library(
    package="symfony/lock",
    version="5.4.53",
    language="PHP",
    used="the locks of Symfony",
    lock="LockFactory::createLock with RedisStore",
    options="On phpredis. It is asked again and again: its own waiting has no end.",
    promises={
        "exclusive_in_process": GUARANTEED,
        "exclusive": GUARANTEED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": Quote("use a unique token to recognize the true owner of the lock", DOCS),
        "answers_a_try_at_once": Quote("the ``acquire`` method returns ``false`` immediately", DOCS),
    },
    scenarios=("crash_while_acquiring",),
)
STAGE = LIBRARY.stage(
    worker=["php", "../workers/worker.php", "locks/symfony.php"],
    worker_lanes=1,
    environment="php",
    store="redis",
    ttl_ms=3000,
)
