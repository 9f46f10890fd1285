"""The counter behind a fence with an owner: if several holders have the same number, it accepts only the first of them.

A store that forgot its last grant gives its number again, but to another owner: each pair of number and owner is unique.
Algorithm: as ``fenced``, with numbers that contain the name of their owner: L. Lamport, "The Part-Time Parliament" (1998).
"""

from __future__ import annotations

from app.lock import Grant, Refused
from app.resource import Write
from app.resources.fenced import OLDER
from app.stores.redis import Redis

SEE = """
local seen = redis.call('hmget', KEYS[2], 'fence', 'owner')
if older(seen[1] or '0', ARGV[1]) then
    redis.call('hset', KEYS[2], 'fence', ARGV[1], 'owner', ARGV[2])
end
return redis.call('get', KEYS[1])
"""

WRITE = """
local seen = redis.call('hmget', KEYS[2], 'fence', 'owner')
local newest = seen[1] or '0'
if older(ARGV[1], newest) or (ARGV[1] == newest and ARGV[2] ~= seen[2]) then
    return {0, newest, seen[2]}
end
redis.call('hset', KEYS[2], 'fence', ARGV[1], 'owner', ARGV[2])
return {1, redis.call('set', KEYS[1], ARGV[3], 'GET') or 0}
"""


class Counter:
    in_lock_store = False

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.keys = [key, f"{key}:fence"]
        self.see_script = client.register_script(OLDER + SEE)
        self.write_script = client.register_script(OLDER + WRITE)

    def read(self, grant: Grant) -> int:
        return int(self.see_script(self.keys, [grant.fence, grant.owner]) or 0)

    def write(self, value: int | None, grant: Grant) -> Write:
        taken, found, *owner = self.write_script(self.keys, [grant.fence, grant.owner, value])
        if not taken:
            raise Refused(f"the fence {grant.fence} is older than {int(found)}, or not that of {owner[0]}, which was seen here")
        return Write(value=value or 0, overwrote=int(found))

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.keys[0]) or 0)}
