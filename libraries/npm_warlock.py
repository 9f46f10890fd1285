"""node-redis-warlock: SET NX PX with an identifier; a script compares it at the release.

**Idea** The wait is a number of tries.
"""

from app.foreign.library import Library, Quote

HOME = "https://github.com/TheDeveloper/warlock/blob/a5ee7bd7ab709a7174c1db0e5ad409c80c4046c8"
README = f"{HOME}/README.md"
HARDENED = Quote("Battle-hardened distributed locking using redis.", README)
LIFE = Quote("Lifetime of the lock", README)
EQUAL = Quote("Delete a key if content is equal", f"{HOME}/lib/lua/parityDel.lua")

LIBRARY = Library(
    package="node-redis-warlock",
    version="1.0.2",
    language="JavaScript",
    used="135 thousand downloads a month from npm, seen in November 2026",
    lock="warlock.optimistic",
    options="On node-redis 3.1.2, whose callbacks it needs. The wait gives maxAttempts.",
    promises={
        "exclusive_in_process": HARDENED,
        "exclusive": HARDENED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": EQUAL,
        "releases_atomically": EQUAL,
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/warlock.mjs"],
    environment="node",
    key="{key}:lock",
    store="redis",
    ttl_ms=3000,
)
