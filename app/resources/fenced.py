"""The counter behind a fence: it keeps the highest fence it has seen, and refuses a write with an older one.

A read counts as well. Otherwise a newer holder could read, an older holder write, and the newer holder overwrite that write.
Algorithm: M. Kleppmann, "How to do distributed locking" (2016), with the fence also at the read.
"""

from __future__ import annotations

from app.lock import Grant, Refused
from app.resource import Write
from app.stores.redis import Redis

# Numbers of Lua have 53 bits, and a fence can be a time in nanoseconds: so it is compared as text.
OLDER = """
local function older(one, other)
    return #one < #other or (#one == #other and one < other)
end
"""

SEE = """
local seen = redis.call('get', KEYS[2]) or '0'
if not older(ARGV[1], seen) then
    redis.call('set', KEYS[2], ARGV[1])
end
return redis.call('get', KEYS[1])
"""

WRITE = """
local seen = redis.call('get', KEYS[2]) or '0'
if older(ARGV[1], seen) then
    return {0, seen}
end
redis.call('set', KEYS[2], ARGV[1])
return {1, redis.call('set', KEYS[1], ARGV[2], 'GET') or 0}
"""


class Counter:
    in_lock_store = False

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.keys = [key, f"{key}:fence"]
        self.see_script = client.register_script(OLDER + SEE)
        self.write_script = client.register_script(OLDER + WRITE)

    def read(self, grant: Grant) -> int:
        return int(self.see_script(self.keys, [grant.fence]) or 0)

    def write(self, value: int | None, grant: Grant) -> Write:
        taken, found = self.write_script(self.keys, [grant.fence, value])
        if not taken:
            raise Refused(f"the fence {grant.fence} is older than {int(found)}, which was seen here")
        return Write(value=value or 0, overwrote=int(found))

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.keys[0]) or 0)}
