"""The lock of Laravel's cache in Redis: SET NX EX with an owner; a script compares it at the release.

**Idea** What Cache::lock() gives to a Laravel application.
"""

from app.foreign.library import Library, Quote

CODE = "https://github.com/laravel/framework/blob/v8.83.26/src/Illuminate/Cache"
DOCS = "https://github.com/laravel/docs/blob/8.x/cache.md"
ATOMIC = Quote("Atomic locks allow for the manipulation of distributed locks without worrying about race conditions.", DOCS)
LIFE = Quote("The number of seconds the lock should be maintained.", f"{CODE}/Lock.php")

LIBRARY = Library(
    package="illuminate/cache",
    version="8.83.26",
    language="PHP",
    used="the locks of Laravel",
    lock="Cache::lock with RedisStore",
    options="On phpredis, without a prefix of the cache.",
    promises={
        "exclusive_in_process": ATOMIC,
        "exclusive": ATOMIC,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": Quote(
            "If you would like to release a lock without respecting its current owner, you may use the `forceRelease` method",
            DOCS,
        ),
        "releases_atomically": Quote("Get the Lua script to atomically release a lock.", f"{CODE}/LuaScripts.php"),
    },
)
STAGE = LIBRARY.stage(
    worker=["php", "../workers/worker.php", "locks/laravel.php"],
    worker_lanes=1,
    environment="php",
    store="redis",
    ttl_ms=3000,
    ttl_step_ms=1000,
)
