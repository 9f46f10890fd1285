"""INCR: reads and writes in one command. With a stock, a script also decides whether an item is left, in the same step."""

from __future__ import annotations

from app.lock import Grant
from app.resource import Write
from app.stores.redis import Redis

SELL = """
if tonumber(redis.call('get', KEYS[1]) or 0) >= tonumber(ARGV[1]) then
    return 0
end
return redis.call('incr', KEYS[1])
"""


class Counter:
    in_lock_store = False
    stock: int | None = None  # how many items there are to sell; None for a number that only grows

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.key = key
        self.sell_script = client.register_script(SELL)

    def read(self, grant: Grant) -> None:
        return None

    def write(self, value: int | None, grant: Grant) -> Write:
        value = self.client.incr(self.key) if self.stock is None else self.sell_script([self.key], [self.stock])
        return Write(value=value, overwrote=value - 1) if value else Write(value=0, overwrote=0, sold_out=True)

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.key) or 0)}
