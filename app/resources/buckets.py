"""The number as the sum of several buckets, each a field of one hash. The key of the grant names the bucket."""

from __future__ import annotations

from app.lock import Grant
from app.locks.bucketed import BUCKETS
from app.resource import Write
from app.stores.redis import Redis

WRITE = """
local found = redis.call('hget', KEYS[1], ARGV[1]) or 0
redis.call('hset', KEYS[1], ARGV[1], ARGV[2])
return found
"""


class Counter:
    in_lock_store = False
    parts_of_stock = BUCKETS  # a request sells from one bucket alone, also when another one has items left

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.key = key
        self.write_script = client.register_script(WRITE)

    def read(self, grant: Grant) -> int:
        return int(self.client.hget(self.key, _bucket(grant)) or 0)

    def write(self, value: int | None, grant: Grant) -> Write:
        found = self.write_script([self.key], [_bucket(grant), value])
        return Write(value=value or 0, overwrote=int(found), part=_bucket(grant))

    def parts(self) -> dict[str, int]:
        return {part: int(value) for part, value in self.client.hgetall(self.key).items()}


def _bucket(grant: Grant) -> str:
    return grant.key.rpartition(":")[2]
