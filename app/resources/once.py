"""INCR at most once for each request: the store keeps the value of each request, and answers a second write with that value.

So work that is done twice, or sent twice, counts once. A real store would forget the requests after a while.
Algorithm: the idempotency key of payment services, with the key and the effect in one step.
"""

from __future__ import annotations

from app.lock import Grant
from app.request.context import here
from app.resource import Write
from app.stores.redis import Redis

WRITE = """
local before = redis.call('hget', KEYS[2], ARGV[1])
if before then
    return {0, before}
end
local value = redis.call('incr', KEYS[1])
redis.call('hset', KEYS[2], ARGV[1], value)
return {1, value}
"""


class Counter:
    in_lock_store = False

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.keys = [key, f"{key}:requests"]
        self.write_script = client.register_script(WRITE)

    def read(self, grant: Grant) -> None:
        return None

    def write(self, value: int | None, grant: Grant) -> Write:
        new, number = self.write_script(self.keys, [here().request])
        return Write(value=int(number), overwrote=int(number) - 1, repeated=not new)

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.keys[0]) or 0)}
